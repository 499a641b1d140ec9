package import EventLoop
import Synchronization

/// Keeps connects rare, for each host and for the whole process. Rapid connects look like an attack to APNs, and a bad
/// network must not cause a storm of them.
package final class ConnectRateLimiter: Sendable {
    /// Connects of the process in a second, to any host, once its burst is used up. Each is a thread for up to 15
    /// seconds.
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
    /// The most by which waiting connects are spread, so that they do not start together.
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
    ///   - host: The host that it goes to.
    ///   - urgency: How much it is needed.
    /// - Returns: Its place in the line.
    func enter(host: String, _ urgency: ConnectUrgency) -> ConnectPlace {
        ConnectPlace(limiter: self, number: line.withLock { $0.enter(host: host, urgency) })
    }

    fileprivate func leave(_ number: Int) { line.withLock { $0.leave(number) } }

    fileprivate func raise(_ number: Int, to urgency: ConnectUrgency) -> Bool {
        line.withLock { $0.raise(number, to: urgency) }
    }

    fileprivate func ask(_ number: Int, now: MonotonicTime) -> Duration {
        let wait = line.withLock { $0.ask(number, now: now) }
        return wait == .zero ? .zero : wait + spread * Double.random(in: 0...1)
    }
}

/// A connect's place in the line of those that wait for the pace. The place is given up with its last reference.
package final class ConnectPlace: Sendable {
    private let limiter: ConnectRateLimiter
    private let number: Int

    fileprivate init(limiter: ConnectRateLimiter, number: Int) {
        self.limiter = limiter
        self.number = number
    }

    deinit { limiter.leave(number) }

    /// Asks whether the connect may begin.
    ///
    /// - Parameter now: The time.
    /// - Returns: After how long to ask again; zero if it begins now and its place is used up.
    package func ask(now: MonotonicTime) -> Duration { limiter.ask(number, now: now) }

    /// The connect has become more urgent.
    ///
    /// - Parameter urgency: How much it is needed.
    /// - Returns: Whether it was less urgent before. It should then ask again.
    package func raise(to urgency: ConnectUrgency) -> Bool { limiter.raise(number, to: urgency) }
}
