import Synchronization

/// The watch over a route's dead tokens. Safe on any thread: who reads the workers' reports begins it.
final class SharedDeadTokens: Sendable {
    private struct State {
        var watch = DeadTokenWatch()
        /// The id of the last command that said that dead tokens can be trusted.
        var trust: String?
    }

    private let state: Mutex<State>

    /// Starts where an earlier watch is, or with nothing learned.
    ///
    /// - Parameter earlier: The watch of the same route before its configuration changed; nil without one.
    init(after earlier: SharedDeadTokens? = nil) {
        state = Mutex(earlier?.state.withLock { $0 } ?? State())
    }

    /// Whether tokens should be kept for now.
    var isSuspicious: Bool { state.withLock { $0.watch.isSuspicious } }

    /// What the worker knows about dead tokens; nil for nothing.
    var knowledge: DeadTokenKnowledge? { state.withLock { $0.watch.knowledge } }

    /// Begins with what the other workers know. This has no effect once something is known here.
    ///
    /// - Parameters:
    ///   - knowledge: What the other workers know.
    ///   - trust: The id of the last command that said that dead tokens can be trusted. The other workers have heard
    ///     this command, so it changes nothing here.
    func begin(from knowledge: DeadTokenKnowledge, trust: String?) {
        state.withLock { state in
            guard state.watch.knowledge == nil else { return }
            state.watch = DeadTokenWatch(from: knowledge)
            state.trust = trust
        }
    }

    /// An operator says that the dead tokens can be trusted. The command counts from now on, and only once.
    ///
    /// - Parameter command: The id of the command.
    func trust(by command: String) {
        state.withLock { state in
            guard state.trust != command else { return }
            state.trust = command
            state.watch.trust()
        }
    }

    /// Learns final answers.
    ///
    /// - Parameters:
    ///   - live: How many of them accepted a push; they came first.
    ///   - isDeadToken: Whether one more answer calls its token dead.
    ///   - inFlight: How many requests are under way.
    /// - Returns: Whether tokens should be kept for now.
    @discardableResult
    func learn(live: Int, isDeadToken: Bool = false, inFlight: Int) -> Bool {
        state.withLock { state in
            state.watch.answered(live: live, inFlight: inFlight)
            if isDeadToken { state.watch.answered(isDeadToken: true, inFlight: inFlight) }
            return state.watch.isSuspicious
        }
    }
}
