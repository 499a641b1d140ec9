import FoundationEssentials
import Glibc
import Synchronization

/// A program that this process started, in a session of its own: a Ctrl-C on the terminal does not reach it.
///
/// It is killed if it still runs when this object is released or this process ends, unless `leaveRunning()` was called.
package final class ChildProcess: Sendable {
    /// Where a standard stream of the program comes from or goes to.
    package enum Stream: Sendable {
        /// `/dev/null`.
        case discard
        /// The same as this process's.
        case inherit
        /// A file: read from its start as input, appended to as output.
        case file(String)
        /// An open descriptor; the caller keeps it and closes it.
        case descriptor(Int32)
    }

    /// How a program ended.
    package enum Ending: Sendable, Equatable {
        /// It left by itself, with this status.
        case exited(Int32)
        /// A signal ended it.
        case signalled(Int32)
    }

    /// The id of the process, which is also that of its process group.
    package let processID: Int32
    /// How the process ended, once it has been waited for. The lock also keeps a signal from reaching a recycled id.
    private let ending = Mutex<Ending?>(nil)

    private init(processID: Int32) {
        self.processID = processID
    }

    deinit {
        // Without a wait the entry would stay in the process table. The kill comes first, so that the wait is short.
        if wait(timeout: .zero) == nil && !left.withLock({ $0 }) {
            signal(SIGKILL)
            _ = wait(timeout: .seconds(5))
        }
    }

    /// Whether the process shall outlive this one.
    private let left = Mutex(false)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: An absolute path, or a name to look for in `PATH`.
    ///   - arguments: Its arguments, without its own name.
    ///   - environment: The whole environment, to which this process's `ASAN_OPTIONS` and `TSAN_OPTIONS` are added if
    ///     missing; nil for this process's own environment.
    ///   - input: Its standard input.
    ///   - output: Its standard output.
    ///   - error: Its standard error.
    /// - Returns: The running process.
    /// - Throws: `LocalStackError` when the program is missing or cannot be started.
    package static func start(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        input: Stream = .discard, output: Stream = .discard, error: Stream = .discard
    ) throws(LocalStackError) -> ChildProcess {
        let own = ProcessInfo.processInfo.environment
        // If this program was built with a sanitizer, the other one probably was too, and needs the same options.
        let sanitizers = own.filter { $0.key == "ASAN_OPTIONS" || $0.key == "TSAN_OPTIONS" }
        let variables = environment?.merging(sanitizers) { given, _ in given } ?? own
        let processID = try launch(
            executable, arguments, descriptors: (input: input, output: output, error: error),
            environment: variables.map { "\($0.key)=\($0.value)" })
        OrphanGuard.shared.watch(group: processID)
        return ChildProcess(processID: processID)
    }

    /// Sends a signal, unless the process has already been waited for.
    ///
    /// - Parameter number: For example `SIGTERM`, `SIGKILL`, `SIGSTOP` or `SIGCONT`.
    package func signal(_ number: Int32) {
        ending.withLock { known in
            if known == nil { _ = kill(processID, number) }
        }
    }

    /// Whether the process has not ended yet.
    package var isRunning: Bool { wait(timeout: .zero) == nil }

    /// Waits until the process ends.
    ///
    /// - Parameter timeout: How long at most.
    /// - Returns: How it ended, or `nil` when it still runs.
    @discardableResult
    package func wait(timeout: Duration) -> Ending? {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var pause: UInt32 = 500
        while true {
            if let known = poll() { return known }
            if ContinuousClock.now >= deadline { return nil }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Asks the process to end with `SIGTERM`. If it does not end in time, kills its whole group with `SIGKILL`.
    ///
    /// - Parameter grace: How long it may take to end by itself; without a positive time, it is killed at once.
    /// - Returns: How it ended; nil if it still runs 10 s after `SIGKILL`.
    @discardableResult
    package func terminate(grace: Duration = .seconds(10)) -> Ending? {
        if grace > .zero {
            signal(SIGTERM)
            if let ended = wait(timeout: grace) { return ended }
        }
        ending.withLock { known in
            if known == nil { _ = kill(-processID, SIGKILL) }
        }
        return wait(timeout: .seconds(10))
    }

    /// Lets the process go on when this one ends.
    package func leaveRunning() {
        left.withLock { $0 = true }
        OrphanGuard.shared.forget(group: processID)
    }

    /// Collects the process if it has ended.
    private func poll() -> Ending? {
        ending.withLock { known in
            if known != nil { return known }
            var status: Int32 = 0
            let result = waitpid(processID, &status, WNOHANG)
            guard result == processID || (result < 0 && errno == ECHILD) else { return nil }
            let termination = status & 0x7f
            known = termination == 0 ? .exited((status >> 8) & 0xff) : .signalled(termination)
            OrphanGuard.shared.forget(group: processID)
            return known
        }
    }
}
