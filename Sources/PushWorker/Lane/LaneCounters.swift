internal import PushModel

/// What a lane counts while it works: plain numbers, no lock, copied into a snapshot now and then.
final class LaneCounters {
    /// Counts of one kind of final report.
    struct Finished: Sendable {
        /// The outcome.
        var outcome: Outcome
        /// The reason; nil when accepted.
        var reason: Reason?
        /// How many notifications ended so.
        var count: Int
    }

    /// Upper bounds of the histogram of answer times, in milliseconds.
    static let bounds: [Int64] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]
    /// Most (outcome, reason) pairs told apart; the peer chooses reasons, so it must not grow without end.
    static let maximumKinds = 64

    private(set) var deliveries = 0
    private(set) var redeliveries = 0
    var retries = 0
    var repliesLost = 0
    private(set) var finished: [Finished] = [Finished(outcome: .accepted, reason: nil, count: 0)]
    /// Answers per bucket, the last one for everything slower; not cumulative.
    private(set) var answerTimes = [Int](repeating: 0, count: LaneCounters.bounds.count + 1)
    private(set) var answerMilliseconds: Int64 = 0

    /// Counts a delivery.
    func received(redelivered: Bool) {
        deliveries += 1
        if redelivered { redeliveries += 1 }
    }

    /// Counts a final report.
    func finished(_ report: FinalReport, milliseconds: Int64?) {
        if let milliseconds {
            answerTimes[Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count] += 1
            answerMilliseconds += milliseconds
        }
        // Nearly all are accepted, which is the first kind.
        if report.outcome == .accepted {
            finished[0].count += 1
        } else if let kind = finished.firstIndex(where: { $0.outcome == report.outcome && $0.reason == report.reason }) {
            finished[kind].count += 1
        } else if finished.count < Self.maximumKinds {
            finished.append(Finished(outcome: report.outcome, reason: report.reason, count: 1))
        } else {
            finished[finished.count - 1].count += 1
        }
    }
}
