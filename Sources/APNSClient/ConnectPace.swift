import EventLoop

/// Spaces events out at a steady rate with a burst (the generic cell rate algorithm, which needs one number). Pure.
struct ConnectPace: Sendable {
    /// The time between events.
    let interval: Duration
    /// How many events may come at once.
    let burst: Int
    /// When the next event is due if all events keep the pace.
    private var due = MonotonicTime(nanoseconds: 0)

    /// A pace that has seen no events.
    init(interval: Duration, burst: Int) {
        self.interval = interval
        self.burst = max(1, burst)
    }

    /// How long the next event has to wait.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - ahead: How many other events go before it. Events that could have happened by now do not count.
    func wait(now: MonotonicTime, ahead: Int = 0) -> Duration {
        let start = due + interval * ahead
        let tolerance = interval * (burst - 1)
        return start - (now + tolerance)
    }

    /// An event happens now.
    mutating func take(now: MonotonicTime) { due = max(due, now) + interval }

    /// Whether earlier events no longer matter.
    func isIdle(now: MonotonicTime) -> Bool { due <= now }
}
