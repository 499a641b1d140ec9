internal import PushModel

/// One message the worker owes the broker. The delivery it belongs to is acknowledged only once it is confirmed.
///
/// An object, because it passes from queue to queue until then, and one queue has it at a time. Confined to its lane.
final class Publication: StallingPublication {
    /// What the message says.
    enum Content {
        /// The result of one notification.
        case result(index: Int, Verdict)
        /// The same result, to the producer's own queue; the result itself follows once its fate is known.
        case reply(index: Int, Verdict)
        /// A copy of the job that comes back after a tier's delay, for these indexes (nil: all of the job's). Only one that
        /// was attempted starts the time of `retry.max_age`.
        case retry(tier: Int, attempt: Int, indexes: [Int]?, wasAttempted: Bool = true)
        /// A copy of the job in the dead letters, for these indexes (nil: all of the job's).
        case deadLetter(FinalReport, indexes: [Int]?)
    }

    /// What it is, for metrics.
    var kind: LaneCounters.Publication {
        switch content {
        case .result: .result
        case .reply: .reply
        case .retry: .retry
        case .deadLetter: .dead
        }
    }

    /// The job it belongs to.
    let job: JobInFlight
    /// The position on the lane of the route that works on the job.
    let route: Int
    /// What it says.
    let content: Content
    /// The number of the note in the journal that must be written first; nil for none.
    let note: UInt64?
    /// Whether it belongs to a line of those that the broker refused or returned.
    var isInLine = false
    /// How often it was unconfirmed when the broker closed the channel.
    var closings = 0
    /// Whether it was published before and it is not known what became of that: the broker may have it twice.
    var isRepublished = false

    /// A message that is to be published.
    ///
    /// - Parameters:
    ///   - job: The job it belongs to.
    ///   - route: The route that works on the job.
    ///   - content: What it says.
    ///   - note: The number of the note in the journal that must be written first; nil for none.
    init(job: JobInFlight, route: Route, content: consuming Content, note: UInt64? = nil) {
        self.job = job
        self.route = route.position
        self.content = content
        self.note = note
    }

    /// Which exchange it goes to, replies apart.
    enum Destination: Hashable {
        case results, dead
        case retry(tier: Int)
    }

    /// Which exchange it goes to; nil for a reply.
    var destination: Destination? {
        switch content {
        case .result: .results
        case .reply: nil
        case .retry(let tier, _, _, _): .retry(tier: tier)
        case .deadLetter: .dead
        }
    }

    /// What readiness says after the broker did not take this publication.
    func trouble(after fate: ConfirmTracker<Publication>.Fate) -> String {
        switch (fate, content) {
        case (.returned, .result), (.perhapsReturned, .result): "results_unroutable"
        case (.returned, .deadLetter), (.perhapsReturned, .deadLetter): "dead_unroutable"
        case (.returned, _), (.perhapsReturned, _): "retry_unroutable"
        case (_, .result): "results_full"
        case (_, .deadLetter): "dead_full"
        case (_, _): "retry_full"
        }
    }
}
