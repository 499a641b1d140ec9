import EventLoop
import Synchronization

/// Keeps connects rare, for each host and for the whole process. Rapid connects look like an attack to APNs, and a bad
/// network must not cause a storm of them.
package final class ConnectRateLimiter: Sendable {
    /// Connects of the process in a second, to any host, once its burst is used up. Each connect holds a thread for up
    /// to 15 seconds, or longer if its look-up hangs.
    package static let processRate = 16
    /// Connects of the process that need not wait.
    package static let processBurst = 32
    /// Connects to one host in a second, once its burst is used up, unless configured.
    package static let defaultRate = 4.0
    /// Connects to one host that need not wait, unless configured.
    package static let defaultBurst = 8

    /// How often connects may happen.
    package struct Limits: Sendable {
        /// Time between connects to one host once its burst is used up.
        package var hostInterval: Duration
        /// Connects to one host that need not wait.
        package var hostBurst: Int
        /// Time between connects of the process once its burst is used up.
        package var processInterval: Duration
        /// Connects of the process that need not wait.
        package var processBurst: Int

        /// Limits from their parts.
        package init(
            hostInterval: Duration = .seconds(1 / ConnectRateLimiter.defaultRate),
            hostBurst: Int = ConnectRateLimiter.defaultBurst,
            processInterval: Duration = .seconds(1) / ConnectRateLimiter.processRate,
            processBurst: Int = ConnectRateLimiter.processBurst
        ) {
            self.hostInterval = hostInterval
            self.hostBurst = hostBurst
            self.processInterval = processInterval
            self.processBurst = processBurst
        }
    }

    private let line: Mutex<ConnectLine>
    /// The longest random time that is added to a wait, so that waiting connects do not start together.
    private let spread: Duration

    /// A limiter that has seen no connects. There is one per process.
    package init(_ limits: Limits = Limits()) {
        spread = limits.hostInterval / 4
        line = Mutex(
            ConnectLine(
                host: ConnectPace(interval: limits.hostInterval, burst: limits.hostBurst),
                process: ConnectPace(interval: limits.processInterval, burst: limits.processBurst)))
    }

    /// Lets a connect wait for the pace.
    ///
    /// - Parameters:
    ///   - host: The host that the connect goes to.
    ///   - urgency: How much the connect is needed.
    /// - Returns: The connect's place in the line.
    func enter(host: String, _ urgency: ConnectUrgency) -> ConnectPlace {
        ConnectPlace(limiter: self, number: line.withLock { $0.enter(host: host, urgency) })
    }

    /// Takes a connect out of the line.
    func leave(_ number: Int) { line.withLock { $0.leave(number) } }

    /// Makes a connect more urgent.
    func raise(_ number: Int, to urgency: ConnectUrgency) -> Bool {
        line.withLock { $0.raise(number, to: urgency) }
    }

    /// After how long a connect should ask again; zero if it begins now.
    func ask(_ number: Int, now: MonotonicTime, random: inout some RandomNumberGenerator) -> Duration {
        let wait = line.withLock { $0.ask(number, now: now) }
        return wait == .zero ? .zero : wait + spread * Double.random(in: 0...1, using: &random)
    }
}
