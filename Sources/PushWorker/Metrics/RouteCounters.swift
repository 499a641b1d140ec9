/// The counters of a lane for one of its routes: plain values that only the lane changes.
package struct RouteCounters: Sendable, Equatable {
    /// How many final outcomes there were, by reason.
    package var outcomes = OutcomeCounts()
    /// How many requests APNs answered, by status, and how many it may have processed and did not answer.
    package var answers = AnswerCounts()
    /// How often a notification was to be sent again, by how its attempt ended.
    package var repeats = ReasonCounts<Repeat>()
    /// Jobs taken from the queue.
    package var jobsReceived = 0
    /// Those of them that the broker had delivered before.
    package var jobsRedelivered = 0
    /// Jobs given back to their queue unsent, for another worker.
    package var jobsHandedBack = 0
    /// Notifications handed to APNs connections, resends included.
    package var requests = 0
    /// Notifications sent again at once, because APNs provably had not taken them.
    package var resends = 0
    /// Notifications in retry copies that the broker confirmed, one entry per tier: the retry tiers, then the holding
    /// tiers. Jobs that wait as a whole for their `not_before` do not count.
    package var retries: [Int]
    /// Retry copies that the broker confirmed, one entry per tier.
    package var retryCopies: [Int]
    /// Deliveries of retry copies that came back from a tier, one entry per tier.
    package var retryReturns: [Int]
    /// Notifications of jobs that came again and were not begun again: their outcome is known, or the job is still
    /// under way.
    package var duplicatesSuppressed = 0
    /// How often a notification was to be settled a second time, which was refused.
    package var settledTwice = 0
    /// Notifications that waited in a tier, because APNs had had too many for their device token.
    package var cooled = 0
    /// Notifications that waited in a tier, because their `not_before` had not come.
    package var held = 0
    /// Notifications that were not sent, because their campaign was paused. They waited in a tier, or were reported if
    /// no tier would have brought them back in time.
    package var paused = 0
    /// Jobs that carried a field this version does not know.
    package var unknownFields = 0
    /// Replies that `replies.allow` did not allow, or that reached no queue.
    package var repliesLost = 0
    /// Connections opened to APNs' host for devices.
    package var connectionsOpened = 0
    /// Attempts to open such a connection that failed.
    package var connectionsFailed = 0
    /// Connections to this host that ended with a GOAWAY.
    package var goAways = 0
    /// From submitting a request to its answer.
    package var requestDuration = DurationHistogram(.request)
    /// The time from a job's enqueue time to its delivery here. Jobs that came before their `not_before` do not count.
    package var queueAge = DurationHistogram(.wait)
    /// The time from a job's delivery to its last outcome.
    package var jobDuration = DurationHistogram(.wait)

    /// Notifications to devices that now wait for a stream.
    package var waiting = 0
    /// Jobs now held because they came back often. They are taken up one at a time.
    package var suspects = 0
    /// Requests now without an answer.
    package var inFlight = 0
    /// Jobs now delivered and not acknowledged.
    package var unacknowledged = 0
    /// The length of these jobs' messages, headers and bodies, in bytes.
    package var bytesInFlight = 0
    /// Connections now usable.
    package var connections = 0
    /// Streams that APNs now allows on all connections together.
    package var streamLimit = 0
    /// Device tokens that now wait until APNs takes notifications for them again.
    package var coolingTokens = 0
    /// Whether this worker serves the route now.
    package var isAssigned = false
    /// Whether the route is parked now.
    package var isParked = false
    /// What the route does now.
    package var state = RouteState.starting
    /// Whether results now say `hold` instead of `drop_token`.
    package var holdsTokens = false
    /// The knowledge about dead tokens; nil without any.
    package var deadTokens: DeadTokenKnowledge?
    /// By how many seconds this clock is ahead of APNs' clock; nil before APNs told its time.
    package var clockSkew: Int?
    /// The limit that keeps the route from pushing more now.
    package var limitedBy = RouteLimit.nothing

    /// Makes counters at zero.
    ///
    /// - Parameter tiers: How many tiers there are, holding tiers included.
    package init(tiers: Int) {
        retries = [Int](repeating: 0, count: tiers)
        (retryCopies, retryReturns) = (retries, retries)
    }

    /// Clears the gauges, because nothing of a route that has left is under way. `state` and `limitedBy` stay: nobody
    /// reads them of such a route.
    mutating func clearGauges() {
        for gauge in Self.gauges { self[keyPath: gauge.path] = 0 }
        (isAssigned, isParked, holdsTokens, deadTokens, clockSkew) = (false, false, false, nil, nil)
    }

    /// Adds the counters of another route for a sum.
    mutating func add(_ other: RouteCounters) {
        outcomes.add(other.outcomes)
        answers.add(other.answers)
        repeats.add(other.repeats)
        for counter in Self.counters + Self.gauges { self[keyPath: counter.path] += other[keyPath: counter.path] }
        for path in [\RouteCounters.retries, \.retryCopies, \.retryReturns] {
            for (tier, count) in other[keyPath: path].enumerated() where tier < self[keyPath: path].count {
                self[keyPath: path][tier] += count
            }
        }
        requestDuration.add(other.requestDuration)
        queueAge.add(other.queueAge)
        jobDuration.add(other.jobDuration)
        isAssigned = isAssigned || other.isAssigned
        isParked = isParked && other.isParked
        state = min(state, other.state)
        holdsTokens = holdsTokens || other.holdsTokens
        deadTokens = deadTokens ?? other.deadTokens
        if let skew = other.clockSkew, skew.magnitude >= clockSkew?.magnitude ?? 0 { clockSkew = skew }
        limitedBy = limitedBy.joined(with: other.limitedBy)
    }
}
