import EventLoop

/// A drain of a lane that was asked for.
struct LaneDrain {
    /// When unfinished work is given up.
    private let deadline: MonotonicTime
    /// When jobs that were not sent yet are handed back instead of being sent: after half of the time.
    private let handBackAt: MonotonicTime

    /// A drain that begins now.
    init(until deadline: MonotonicTime, now: MonotonicTime) {
        self.deadline = deadline
        handBackAt = now + (deadline - now) / 2
    }

    /// Whether jobs that were not sent yet are handed back.
    func isLeaving(now: MonotonicTime) -> Bool { now >= handBackAt }

    /// Whether unfinished work is given up.
    func isOver(now: MonotonicTime) -> Bool { now >= deadline }

    /// When the next of the two times comes.
    func nextDue(after now: MonotonicTime) -> MonotonicTime { isLeaving(now: now) ? deadline : handBackAt }
}
