package import PushModel

/// What a lane counts for one of its routes: plain values that only the lane changes.
package struct RouteCounters: Sendable {
    /// How many final outcomes there were, by reason.
    package var outcomes = OutcomeCounts()
    /// Jobs taken from the queue.
    package var jobsReceived = 0
    /// Those of them that the broker had delivered before.
    package var jobsRedelivered = 0
    /// Notifications handed to APNs connections, resends included.
    package var requests = 0
    /// Notifications sent again at once, because APNs provably had not taken them.
    package var resends = 0
    /// Notifications in retry copies that the broker confirmed, one entry per tier in the order of the configuration.
    package var retries: [Int]
    /// Retry copies that the broker confirmed, one entry per tier.
    package var retryCopies: [Int]
    /// Deliveries of retry copies that came back from their tier, one entry per tier.
    package var retryReturns: [Int]
    /// Redelivered notifications that were not sent again, because their outcome was known.
    package var duplicatesSuppressed = 0
    /// Notifications that waited in a tier, because APNs had had too many for their device token.
    package var cooled = 0
    /// Jobs that carried a field this version does not know.
    package var unknownFields = 0
    /// Replies that were refused or went nowhere.
    package var repliesLost = 0
    /// APNs connections opened.
    package var connectionsOpened = 0
    /// Attempts to open one that failed.
    package var connectionsFailed = 0
    /// GOAWAY frames received.
    package var goAways = 0
    /// From submitting a request to its answer.
    package var requestDuration = DurationHistogram(.request)
    /// From the job's enqueue time to its delivery here.
    package var queueAge = DurationHistogram(.wait)
    /// From a job's delivery to its acknowledgement.
    package var jobDuration = DurationHistogram(.wait)

    /// Notifications now waiting in the prefetch window for a stream.
    package var waiting = 0
    /// Jobs now held because they came back often, to be taken up one at a time.
    package var suspects = 0
    /// Requests now without an answer.
    package var inFlight = 0
    /// Jobs now delivered and not acknowledged.
    package var unacknowledged = 0
    /// The length of the messages of these jobs now, in bytes.
    package var bytesInFlight = 0
    /// Connections now usable.
    package var connections = 0
    /// Streams that could now be opened in all.
    package var streamLimit = 0
    /// Device tokens that now wait until APNs takes notifications for them again.
    package var coolingTokens = 0
    /// Whether this worker serves the route now.
    package var isAssigned = false
    /// Whether the route is parked now.
    package var isParked = false
    /// Seconds by which this clock is ahead of APNs'; nil before APNs told its time.
    package var clockSkew: Int?
    /// What keeps the route from pushing more now.
    package var limitedBy = RouteLimit.nothing

    /// Makes counters at zero.
    ///
    /// - Parameter tiers: How many retry tiers there are.
    package init(tiers: Int) {
        retries = [Int](repeating: 0, count: tiers)
        (retryCopies, retryReturns) = (retries, retries)
    }

    /// Adds what another lane counted for the same route.
    mutating func add(_ other: RouteCounters) {
        outcomes.add(other.outcomes)
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
        if let skew = other.clockSkew, skew.magnitude >= clockSkew?.magnitude ?? 0 { clockSkew = skew }
        limitedBy = limitedBy.joined(with: other.limitedBy)
    }
}

/// What a lane counts for itself: plain values that only the lane changes.
package struct LaneCounters: Sendable {
    /// What was published, by kind.
    package enum Publication: Int, Sendable, CaseIterable {
        /// A result, its copy to a reply address, a retry copy, a dead letter.
        case result, reply, retry, dead
    }

    /// How the broker answered a publication.
    package enum Confirm: Int, Sendable, CaseIterable {
        /// Stored, refused, without a queue, or without an answer before the connection was lost.
        case ack, nack, returned, lost
    }

    /// How a delivery was settled with the broker.
    package enum Settling: Int, Sendable, CaseIterable {
        /// Done, dead-lettered by the broker, or handed back.
        case acknowledged, rejected, requeued
    }

    /// What was published; index by ``Publication``.
    package var publications = [4 of Int](repeating: 0)
    /// How publications were answered; index by ``Confirm``.
    package var confirms = [4 of Int](repeating: 0)
    /// How deliveries were settled; index by ``Settling``.
    package var settlings = [3 of Int](repeating: 0)
    /// Broker connections opened, consuming and publishing together.
    package var brokerConnects = 0
    /// Broker connections lost.
    package var brokerDisconnects = 0
    /// Accepted notifications noted in the journal.
    package var journalRecords = 0
    /// Accepted notifications that were not noted, because the disk failed or was too slow.
    package var journalDropped = 0
    /// Accepted notifications whose results did not wait for their notes, because the disk took too long.
    package var journalLate = 0
    /// Turns of the loop.
    package var turns = 0
    /// How often a route was looked at in a turn.
    package var routeTurns = 0
    /// How often the lane did not turn for longer than two heartbeats.
    package var standstills = 0
    /// How often the calendar was set.
    package var clockSteps = 0
    /// How long the loop was busy, waiting excluded.
    package var busy = Duration.zero

    /// Whether the consuming connection is up now.
    package var isConsumerUp = false
    /// Whether the publishing connection is up now.
    package var isPublisherUp = false
    /// Whether the journal takes notes now; nil where none is configured.
    package var isJournalUp: Bool?
    /// Whether the broker has blocked publishing now.
    package var isBlocked = false
    /// Publications now without a confirm.
    package var unconfirmed = 0
    /// The longest turn of late.
    package var longestTurn = Duration.zero

    /// Makes counters at zero.
    package init() {}

    /// Counts a publication.
    package mutating func count(_ publication: Publication) { publications[publication.rawValue] += 1 }

    /// Counts answers to publications.
    package mutating func count(_ confirm: Confirm, _ number: Int = 1) { confirms[confirm.rawValue] += number }

    /// Counts settled deliveries.
    package mutating func count(_ settling: Settling, _ number: Int = 1) { settlings[settling.rawValue] += number }
}

/// Everything a lane counted until one moment.
package struct LaneSnapshot: Sendable {
    /// The lane's own counters.
    package var lane: LaneCounters
    /// Its routes' counters, by the route's position in the configuration; nil where the lane has no part in a route.
    package var routes: [RouteCounters?]

    /// Makes a snapshot.
    package init(lane: LaneCounters, routes: [RouteCounters?]) {
        self.lane = lane
        self.routes = routes
    }
}

/// Counts of final outcomes by reason: a short list, searched from the front, of what has happened so far.
package struct OutcomeCounts: Sendable {
    /// One pair and its count.
    struct Entry: Sendable {
        /// The outcome.
        let outcome: Outcome
        /// The reason as a label; empty for none.
        let reason: String
        /// The reason to compare with.
        let key: Reason?
        /// How many there were.
        var count: Int
    }

    /// How many different pairs there may be; reasons beyond that count as `other`, so that labels stay bounded.
    static let limit = 64

    private(set) var accepted = 0
    private(set) var entries: [Entry] = []

    /// Makes counts at zero.
    package init() {}

    /// Counts a final outcome.
    package mutating func count(_ outcome: Outcome, _ reason: Reason?, _ number: Int = 1) {
        if outcome == .accepted {
            accepted += number
            return
        }
        for index in entries.indices where entries[index].outcome == outcome && entries[index].key == reason {
            entries[index].count += number
            return
        }
        add(outcome, reason, number)
    }

    private mutating func add(_ outcome: Outcome, _ reason: Reason?, _ number: Int) {
        let text = reason.map(\.rawValue) ?? ""
        // A reason is foreign text: one too long or strange for a label counts with the others.
        let isLabel = text.utf8.count <= 64 && text.utf8.allSatisfy(SettingParsers.isAlphanumeric)
        guard isLabel, entries.count < Self.limit else {
            if reason?.rawValue == Self.other.rawValue {
                entries.append(Entry(outcome: outcome, reason: text, key: reason, count: number))
            } else {
                count(outcome, Self.other, number)
            }
            return
        }
        entries.append(Entry(outcome: outcome, reason: text, key: reason, count: number))
    }

    private static let other = Reason(rawValue: "other")

    /// How many notifications had an outcome, whatever the reason.
    func count(of outcome: Outcome) -> Int {
        guard outcome != .accepted else { return accepted }
        return entries.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: OutcomeCounts) {
        accepted += more.accepted
        for entry in more.entries { count(entry.outcome, entry.key, entry.count) }
    }
}
