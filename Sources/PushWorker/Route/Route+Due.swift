import APNSClient
import EventLoop

// When a route has something to do only because time passed. Events bring the lane to look at a route in any case.
extension Route {
    /// How soon a route whose pushes wait looks again for free streams: the number of connections follows these pushes.
    static let backlogInterval = Duration.milliseconds(20)
    /// How often a route with work under way is looked at in any case, because jobs that it cannot send may expire.
    static let patrolInterval = Duration.milliseconds(500)
    /// How late forgetting may be, so that many routes forget in one turn.
    private static let forgettingInterval = Duration.seconds(1)

    /// When the lane has to look at the route although no event concerns it; the far end of the clock for never.
    ///
    /// - Parameter moment: The time of the turn. The question is asked at the end of that turn.
    func nextDue(after moment: Moment) -> MonotonicTime {
        let now = moment.monotonic
        var due = deliveries.nextDue(after: now)
        func look(at time: MonotonicTime?) {
            if let time { due = min(due, time) }
        }
        look(at: hosts.nextDue)
        look(at: channel.nextDue(after: now))
        look(at: rates.nextDue)
        if goesOnAtOnce { look(at: now) }
        look(at: credential.nextDue(after: moment))
        look(at: expirySearch.look.nextDue(after: now))
        look(at: Self.later(deliveries.intake.nextForgetting, by: Self.forgettingInterval))
        look(at: Self.later(cooling.nextDue, by: Self.forgettingInterval))
        if mayWiden, devices.breaker.intake != .none, rates.nextDue == nil, !outbox.isCongested {
            look(at: now + Self.backlogInterval)
        } else if !isQuiet {
            look(at: Self.later(now, by: Self.patrolInterval))
        }
        // At most once in a millisecond, even if one of the times is wrong.
        return max(due, now + .milliseconds(1))
    }

    /// Whether pushes wait, and more connections may be opened for them. A route that waits for its first connection
    /// need not look, because the opening of that connection is an event.
    private var mayWiden: Bool { devices.hasWaiting && devices.pool?.streamLimit != 0 }

    /// The first multiple of an interval after a time, so that work that is not urgent falls due together.
    private static func later(_ time: MonotonicTime?, by interval: Duration) -> MonotonicTime? {
        let interval = interval.clampedNanoseconds
        return time.map { MonotonicTime(nanoseconds: ($0.nanoseconds / interval + 1) * interval) }
    }
}
