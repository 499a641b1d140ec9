import PushModel

/// One message the worker owes the broker. The delivery that led to the message is acknowledged only once the broker
/// has confirmed the message.
///
/// A class, because a publication moves from queue to queue until it is confirmed. One queue has it at a time. Confined
/// to its lane.
final class Publication: StallingPublication {
    /// The content of the message.
    enum Content {
        /// The result of one notification.
        case result(index: Int, ResultContent)
        /// The same result for the producer's own queue. The result itself follows once the reply's fate is known.
        case reply(index: Int, ResultContent, ReplyWay = .exchange)
        /// Several results; with a `ReplyWay`, several replies to one job.
        case batch(ResultBatch, ReplyWay? = nil)
        /// A copy of the job that comes back after a tier's delay, for these indexes (nil: all of the job's). Only the
        /// copy of an attempted job starts the time of `retry.max_age`.
        case retry(tier: Int, attempt: Int, indexes: [Int]?, wasAttempted: Bool = true)
        /// A copy of the job in the dead letters, for these indexes (nil: all of the job's).
        ///
        /// `invalidSince` says since when APNs knows that the device tokens of a multicast job are dead. It has one
        /// time for each index, in milliseconds since 1970, 0 where APNs named none. It is empty if APNs named none at
        /// all. It may also be empty for a job with one device token, because the report has that time.
        case deadLetter(FinalReport, indexes: [Int]?, invalidSince: [Int64] = [])
    }

    /// Its kind, for metrics.
    var kind: LaneCounters.Publication {
        switch content {
        case .result: .result
        case .reply: .reply
        case .batch(_, let way): way == nil ? .result : .reply
        case .retry: .retry
        case .deadLetter: .dead
        }
    }

    /// The job it belongs to; the first of several for a batch.
    let job: JobInFlight
    /// The position on the lane of the route that works on the job.
    let route: Int
    /// Its content.
    private(set) var content: Content
    /// The number of the note in the journal that must be written first; nil for none.
    let note: UInt64?
    /// Whether it is in a line of `RefusedPublications`.
    var isInLine = false
    /// How often it was unconfirmed when the broker closed the channel.
    var closings = 0
    /// Whether the broker may have the message from an earlier attempt, and so may get it twice.
    var isRepublished = false

    /// The jobs that wait for it; nil once its fate was final.
    private var obligation: Obligation?

    /// A message that is to be published for one job.
    ///
    /// - Parameters:
    ///   - job: The job it belongs to.
    ///   - route: The position on the lane of the route that works on the job.
    ///   - content: Its content.
    ///   - note: The number of the note in the journal that must be written first; nil for none.
    convenience init(job: JobInFlight, route: Int, content: consuming Content, note: UInt64? = nil) {
        self.init(job.owe(), route: route, content: content, note: note)
    }

    /// A message that is to be published.
    ///
    /// - Parameters:
    ///   - obligation: The jobs that wait for it.
    ///   - route: The position on the lane of the route that works on the job.
    ///   - content: Its content.
    ///   - note: The number of the note in the journal that must be written first; nil for none.
    init(_ obligation: consuming Obligation, route: Int, content: consuming Content, note: UInt64? = nil) {
        job = obligation.job
        self.obligation = consume obligation
        self.route = route
        self.content = content
        self.note = note
    }

    /// Takes out the jobs that wait for it: its fate is final.
    ///
    /// - Returns: Nil where its fate was final before, which is a defect.
    func takeObligation() -> Obligation? { obligation.take() }

    /// Sends a retry copy into another tier than before.
    ///
    /// - Parameter tier: The tier's position.
    func redirect(to tier: Int) {
        guard case .retry(_, let attempt, let indexes, let wasAttempted) = content else { return }
        content = .retry(tier: tier, attempt: attempt, indexes: indexes, wasAttempted: wasAttempted)
    }

    /// Whether it is a reply, or several.
    var isReply: Bool { destination == nil }

    /// Whether it is a reply that goes straight to a queue.
    var isReplyToQueue: Bool {
        switch content {
        case .reply(_, _, .queue), .batch(_, .queue): true
        default: false
        }
    }

    /// The exchange of a publication that is not a reply.
    enum Destination: Hashable, Comparable {
        case results, dead
        case retry(tier: Int)
    }

    /// Its exchange; nil for a reply.
    var destination: Destination? {
        switch content {
        case .result: .results
        case .reply: nil
        case .batch(_, let way): way == nil ? .results : nil
        case .retry(let tier, _, _, _): .retry(tier: tier)
        case .deadLetter: .dead
        }
    }

    /// The word that readiness shows after the broker did not take this publication.
    func trouble(after fate: ConfirmTracker<Publication>.Fate) -> String {
        switch (fate, content) {
        case (.returned, .result), (.perhapsReturned, .result), (.returned, .batch), (.perhapsReturned, .batch):
            "results_unroutable"
        case (.returned, .deadLetter), (.perhapsReturned, .deadLetter): "dead_unroutable"
        case (.returned, _), (.perhapsReturned, _): "retry_unroutable"
        case (.abandoned, .result), (.abandoned, .batch): "results_unconfirmed"
        case (.abandoned, .deadLetter): "dead_unconfirmed"
        case (.abandoned, _): "retry_unconfirmed"
        case (_, .result), (_, .batch): "results_full"
        case (_, .deadLetter): "dead_full"
        case (_, _): "retry_full"
        }
    }
}
