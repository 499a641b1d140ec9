import EventLoop
import Synchronization

/// Spaces events out: a steady rate with a burst. Pure; the generic cell rate algorithm, which needs one number.
struct ConnectPace: Sendable {
    /// Nanoseconds between events.
    let interval: UInt64
    /// How many events may come at once.
    let burst: UInt64
    /// When the next event is due if all keep the pace.
    private var due: UInt64 = 0

    /// A pace that has seen no events.
    init(interval: UInt64, burst: UInt64) {
        self.interval = interval
        self.burst = max(1, burst)
    }

    /// Takes the next place.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    /// - Returns: how long to wait for it, in nanoseconds.
    mutating func take(now: UInt64) -> UInt64 {
        let start = max(due, now)
        due = start + interval
        let tolerance = (burst - 1) * interval
        return start > now + tolerance ? start - tolerance - now : 0
    }

    /// Whether the pace has no memory of events any more.
    func isIdle(now: UInt64) -> Bool { due <= now }
}

/// Keeps connects rare, for each host and for the whole process: rapid connects look like an attack to APNs, and a bad
/// network must not turn into a storm of them.
package final class ConnectRateLimiter: Sendable {
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

        /// Limits from their parts: by default 8 at once and 4 a second to a host, 32 at once and 16 a second in all.
        package init(
            hostInterval: Duration = .milliseconds(250), hostBurst: Int = 8,
            processInterval: Duration = .microseconds(62_500), processBurst: Int = 32
        ) {
            self.hostInterval = hostInterval
            self.hostBurst = hostBurst
            self.processInterval = processInterval
            self.processBurst = processBurst
        }
    }

    private struct State {
        var process: ConnectPace
        var hosts: [String: ConnectPace] = [:]
    }

    /// Hosts remembered at most; idle ones are forgotten first. Configuration names a handful.
    private static let hostLimit = 256

    private let limits: Limits
    private let state: Mutex<State>

    /// A limiter that has seen no connects; one per process.
    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        state = Mutex(
            State(
                process: ConnectPace(
                    interval: limits.processInterval.wholeNanoseconds, burst: UInt64(limits.processBurst))))
    }

    /// Takes the next place in both paces; waiting callers are spread a little, so that they do not start together.
    ///
    /// - Parameters:
    ///   - host: whom the connect goes to.
    ///   - now: the time.
    /// - Returns: how long to wait before connecting, in nanoseconds.
    func delay(host: String, now: MonotonicTime) -> UInt64 {
        let wait = state.withLock { state in
            if state.hosts.count >= Self.hostLimit {
                state.hosts = state.hosts.filter { !$0.value.isIdle(now: now.nanoseconds) }
            }
            let fresh = ConnectPace(interval: limits.hostInterval.wholeNanoseconds, burst: UInt64(limits.hostBurst))
            let host = state.hosts[host, default: fresh].take(now: now.nanoseconds)
            return max(host, state.process.take(now: now.nanoseconds))
        }
        return wait == 0 ? 0 : wait + UInt64.random(in: 0...limits.hostInterval.wholeNanoseconds / 4)
    }
}

extension Duration {
    /// Whole nanoseconds; 0 for a negative duration, the largest number where it would overflow.
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (scaled, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : scaled &+ UInt64(attoseconds) / 1_000_000_000
    }
}
