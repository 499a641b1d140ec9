import PushModel
import TLS
import Text

/// Several results that go out as one message. They have the outcome, the environment and the topic in common.
///
/// The results are rendered once, when they are added. So the message is the same each time it is published. A class,
/// because the same batch is published again if the broker did not take it. Confined to its lane.
final class ResultBatch {
    /// The outcome of all its results.
    let outcome: Outcome
    /// Its routing key in `apns.results`.
    private(set) var routingKey: [UInt8] = []
    /// Whether it goes to the `reply_to` of its only job.
    let isReply: Bool
    /// The job of its first result.
    let job: JobInFlight
    /// The jobs of its results; nil before the first result, and once it is published.
    private var obligation: Obligation?
    /// The results of a reply. They follow once the reply's fate is known. Empty for other batches.
    private(set) var replied: [(index: Int, content: ResultContent)] = []
    /// How many results it has.
    private(set) var count = 0
    /// The body, without its end until `close()`.
    private(set) var body: [UInt8] = []
    /// The number of the latest note in the journal that it waits for; nil for none.
    private(set) var note: UInt64?
    /// The `message_id`, once the batch is closed. It is computed from the ids of the results, so a batch of other
    /// results has another id.
    private(set) var id = UUIDBytes.contractNamespace
    private var ids = SHA1()

    /// A batch without results.
    ///
    /// - Parameters:
    ///   - report: Its first result, which is still to be added.
    ///   - job: The job of that result.
    ///   - isReply: Whether it goes to the job's `reply_to`.
    ///   - origin: The part that all results of the route share.
    init(for report: ResultReport, of job: JobInFlight, isReply: Bool, from origin: ResultOrigin) {
        outcome = report.final.outcome
        self.isReply = isReply
        self.job = job
        ids.update(.contractNamespace)
        report.appendRoutingKey(for: job.job, to: &routingKey)
        report.appendBatchHead(for: job.job, from: origin, to: &body)
    }

    /// Whether a result may join: it has the same outcome, environment and topic. A reply joins only replies to its own
    /// job.
    func joins(_ outcome: Outcome, of other: JobInFlight, isReply: Bool) -> Bool {
        guard outcome == self.outcome, isReply == self.isReply else { return false }
        if other === job { return true }
        guard !isReply, other.job.environment == job.job.environment else { return false }
        let bytes = job.job.bytes
        let others = other.job.bytes
        return bytes.span.extracting(job.job.topic).isEqual(to: others.span.extracting(other.job.topic))
    }

    /// Adds a result.
    ///
    /// - Parameters:
    ///   - report: The result.
    ///   - content: The contents of the result.
    ///   - job: The job that it belongs to.
    ///   - origin: The part that all results of the route share.
    ///   - note: The number of the note in the journal that it waits for; nil for none.
    /// - Returns: False if the body would be too long. The batch is unchanged then.
    func add(
        _ report: ResultReport, _ content: ResultContent, of job: JobInFlight, from origin: ResultOrigin, note: UInt64?
    ) -> Bool {
        let end = body.count
        let id = ResultReport.messageID(of: report.index, for: job.job)
        report.appendEntry(id, isFirst: count == 0, for: job.job, from: origin, to: &body)
        // Two bytes end the body.
        guard body.count + 2 <= ResultReport.longestBatch else {
            body.removeSubrange(end...)
            return false
        }
        job.noteResult(id, of: report.index)
        ids.update(id)
        count += 1
        if obligation == nil { obligation = job.owe() } else { obligation?.add(job) }
        if isReply { replied.append((report.index, content)) }
        if let note { self.note = max(note, self.note ?? 0) }
        return true
    }

    /// Takes out the jobs that wait for its results: it goes into a message.
    func takeObligation() -> Obligation? { obligation.take() }

    /// Ends the body. Nothing can be added any more.
    func close() {
        ResultReport.appendBatchEnd(to: &body)
        id = UUIDBytes(v5: ids)
    }
}
