import Synchronization
import Topology

/// Asks the management API which queues of some jobs have no consumer. It asks in a task of its own, so that a thread
/// that waits for results goes on waiting.
final class ConsumerWatch: Sendable {
    /// How long no result may come before the management API is asked.
    static let patience = Duration.seconds(3)
    /// How long to wait after an answer before asking again. The broker counts consumers every 5 s.
    private static let interval = Duration.seconds(2)

    private struct State {
        /// When to ask again; nil while a question is under way.
        var due: ContinuousClock.Instant? = ContinuousClock.now
        var found: [String] = []
    }

    private let client: ManagementClient
    private let virtualHost: String
    private let state = Mutex(State())

    /// Prepares questions; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - client: The management API.
    ///   - virtualHost: The queues' virtual host.
    init(_ client: ManagementClient, virtualHost: String) {
        self.client = client
        self.virtualHost = virtualHost
    }

    /// Asks if it is time to ask again, and does not wait for the answer.
    ///
    /// - Parameter keys: The keys of the jobs.
    /// - Returns: The queues of the latest answer; an empty list where the API cannot be asked.
    func look(_ keys: Set<String>) -> [String] {
        let (isDue, found) = state.withLock { state in
            let isDue = state.due.map { $0 <= .now } ?? false
            if isDue { state.due = nil }
            return (isDue, state.found)
        }
        if isDue {
            Task.detached { [self] in
                let found = try? await client.queuesWithoutConsumer(
                    of: TopologyNames.jobs, keys: keys, virtualHost: virtualHost)
                state.withLock { $0 = State(due: ContinuousClock.now.advanced(by: Self.interval), found: found ?? []) }
            }
        }
        return found
    }
}
