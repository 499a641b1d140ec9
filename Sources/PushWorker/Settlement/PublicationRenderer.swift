import PushModel
import RabbitMQ
import Text
import Topology

/// Writes publications as AMQP messages, as `Results.md` and `DeadLetters.md` promise.
///
/// A publication gives the same message each time, except for the marks of redeliveries and possible duplicates.
struct PublicationRenderer {
    /// The exchange of results.
    private let results = Array(TopologyNames.results.utf8)
    /// The exchange of replies.
    private let replies = Array(TopologyNames.replies.utf8)
    /// The exchange of dead letters.
    private let dead = Array(TopologyNames.dead.utf8)
    /// The exchanges of the tiers, by the tier's position.
    private let tiers: [[UInt8]]
    /// The part that all results of a route share, by the route's position on the lane.
    private var origins: [ResultOrigin]
    private let workerName: String
    private let includesDeviceToken: Bool
    /// This worker's name, for dead letters.
    private let worker: [UInt8]
    /// The values of `BCC` that lead a result to one of several queues, by slot. Empty if there is one queue.
    private let resultsKeys: [FieldValue]

    /// Creates a renderer for one lane.
    ///
    /// - Parameters:
    ///   - routes: The names of the lane's routes in order; nil for the route that answers jobs nobody claims.
    ///   - resultsQueues: How many queues the results are spread over.
    init(tiers: [String], routes: [String?], worker: String, includesDeviceToken: Bool, resultsQueues: Int = 1) {
        let slots = resultsQueues > 1 ? 0..<TopologyNames.resultsSlots : 0..<0
        resultsKeys = slots.map { .array([.text(Array(TopologyNames.resultsKey(slot: $0).utf8))]) }
        self.tiers = tiers.map { Array(TopologyNames.retryExchange(tier: $0).utf8) }
        self.worker = Array(worker.utf8)
        workerName = worker
        self.includesDeviceToken = includesDeviceToken
        origins = []
        for (position, route) in routes.enumerated() { setRoute(route, at: position) }
    }

    /// Learns which route has a position on the lane from now on.
    ///
    /// - Parameters:
    ///   - route: Its name; nil for the route that answers jobs nobody claims.
    ///   - position: The position, at most one behind the last.
    mutating func setRoute(_ route: String?, at position: Int) {
        let origin = ResultOrigin(route: route, worker: workerName, includesDeviceToken: includesDeviceToken)
        if position < origins.count { origins[position] = origin } else { origins.append(origin) }
    }

    /// Writes the message into a reused builder.
    ///
    /// - Parameter shortened: Whether to leave out what the message can do without, because all of it fits no frame of
    ///   the broker. A dead letter can do without the producer's headers and the times since when its device tokens are
    ///   dead, a retry copy without its mark of a possible duplicate.
    func render(_ publication: Publication, into message: inout OutgoingMessage, shortened: Bool = false) {
        message.reset()
        message.isMandatory = true
        let job = publication.job
        switch publication.content {
        case .result(let index, let content):
            message.setExchange(results.span)
            let report = report(index, content, of: job)
            message.setRoutingKey { report.appendRoutingKey(for: job.job, to: &$0) }
            renderResult(report, of: publication, into: &message)
            addResultsKey(of: job.job, to: &message)
        case .reply(let index, let content, let way):
            if way == .exchange { message.setExchange(replies.span) }
            let bytes = job.job.bytes
            message.setRoutingKey(bytes.span.extracting(job.job.replyTo ?? 0..<0))
            renderResult(report(index, content, of: job), of: publication, into: &message)
        case .batch(let batch, let way): render(batch, way, into: &message)
        case .retry(let tier, let attempt, let indexes, let wasAttempted):
            let exchange = tiers[tier]
            message.setExchange(exchange.span)
            message.setRoutingKey { job.job.appendRoutingKey(to: &$0) }
            copyJob(of: job, keepingTimes: false, withHeaders: true, into: &message)
            let firstAttemptAt = job.job.firstAttemptAt ?? (wasAttempted ? job.receivedAt : nil)
            addRetryHeaders(job.job, attempt: attempt, firstAttemptAt: firstAttemptAt, to: &message)
            // The broker may have this copy twice, or the job it is made from may have been handed on before.
            if !shortened, publication.isRepublished || job.isRedelivered {
                message.addHeader(HeaderName.duplicate, text: MessageName.possible)
            }
            addIndexes(indexes, of: job.job, to: &message)
        case .deadLetter(let final, let indexes, let invalidSince):
            message.setExchange(dead.span)
            let report = ResultReport(index: 0, final: final, finishedAt: 0)
            message.setRoutingKey { report.appendRoutingKey(for: job.job, to: &$0) }
            copyJob(of: job, keepingTimes: true, withHeaders: !shortened, into: &message)
            addDeadLetterHeaders(final, of: job, to: &message)
            addIndexes(indexes, of: job.job, to: &message)
            // The times of a thousand device tokens may not fit the smallest frames either.
            if !shortened { addInvalidSince(final, invalidSince, to: &message) }
        }
    }

    /// A number shared by all publications that one returned message can match (`isSame`).
    func mark(of publication: Publication) -> UInt64 {
        let inFlight = publication.job
        var mark: UInt64 = 0
        switch publication.content {
        case .result(let index, _), .reply(let index, _, _): mark = UInt64(index)
        case .batch(let batch, _): return batch.id.low
        case .deadLetter where !Self.hasOwnID(inFlight.job): return 0
        case .retry, .deadLetter: break
        }
        let bytes = inFlight.job.bytes
        // Consecutive ids differ at their end.
        for position in inFlight.job.jobID.suffix(8) { mark = mark &* 31 &+ UInt64(bytes[position]) }
        return mark
    }

    /// Whether a message that came back is this publication.
    func isSame(
        _ publication: Publication, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) -> Bool {
        let job = publication.job.job
        switch publication.content {
        case .result(let index, let content):
            // A job published twice has two results with one id. Their outcomes may differ.
            var key: [UInt8] = []
            report(index, content, of: publication.job).appendRoutingKey(for: job, to: &key)
            return routingKey.isEqual(to: key.span) && Self.isResult(messageID, of: index, for: job)
        case .reply(let index, _, let way):
            // The default exchange has no name.
            return exchange.isEmpty == (way == .queue)
                && routingKey.isEqual(to: job.bytes.span.extracting(job.replyTo ?? 0..<0))
                && Self.isResult(messageID, of: index, for: job)
        case .batch(let batch, let way):
            let key = way == nil ? batch.routingKey : Array(job.bytes[job.replyTo ?? 0..<0])
            return exchange.isEmpty == (way == .queue) && routingKey.isEqual(to: key.span)
                && Self.isText(messageID, of: batch.id)
        case .retry(let tier, _, _, _):
            let own = tiers[tier]
            return exchange.isEqual(to: own.span) && messageID.isEqual(to: job.bytes.span.extracting(job.jobID))
        case .deadLetter(let final, _, _):
            // A multicast job may have several dead letters. They differ in their keys.
            var key: [UInt8] = []
            ResultReport(index: 0, final: final, finishedAt: 0).appendRoutingKey(for: job, to: &key)
            let id = Self.hasOwnID(job) ? job.jobID : 0..<0
            return routingKey.isEqual(to: key.span) && messageID.isEqual(to: job.bytes.span.extracting(id))
        }
    }

    private static func isResult(_ messageID: Span<UInt8>, of index: Int, for job: Job) -> Bool {
        isText(messageID, of: ResultReport.messageID(of: index, for: job))
    }

    private static func isText(_ messageID: Span<UInt8>, of id: UUIDBytes) -> Bool {
        var text: [UInt8] = []
        id.append(to: &text)
        return messageID.isEqual(to: text.span)
    }

    /// A notification's result.
    func report(_ index: Int, _ content: ResultContent, of job: JobInFlight) -> ResultReport {
        ResultReport(
            index: index, final: content.report, apnsUniqueID: content.apnsUniqueID,
            broadcastChannel: content.broadcastChannel,
            finishedAt: content.finishedAt,
            queueMilliseconds: job.job.queueMilliseconds(at: job.receivedAt),
            apnsMilliseconds: content.apnsMilliseconds, isRedelivered: job.isRedelivered,
            isSuppressedDuplicate: content.isSuppressed || job.isSuppressed(index))
    }

    private func render(_ batch: ResultBatch, _ way: ReplyWay?, into message: inout OutgoingMessage) {
        let job = batch.job
        let (bytes, key, body) = (job.job.bytes, batch.routingKey, batch.body)
        if let way {
            if way == .exchange { message.setExchange(replies.span) }
            message.setRoutingKey(bytes.span.extracting(job.job.replyTo ?? 0..<0))
            message.setCorrelationID(bytes.span.extracting(job.job.correlationID ?? job.job.jobID))
        } else {
            message.setExchange(results.span)
            message.setRoutingKey(key.span)
            addResultsKey(of: job.job, to: &message)
        }
        message.setContentType(MessageName.jsonContentType)
        message.setType(MessageName.resultBatchType)
        message.setMessageID { batch.id.append(to: &$0) }
        message.addHeader(HeaderName.outcome, text: batch.outcome.text)
        message.setBody(body.span)
    }

    /// The part that all results of a route share.
    ///
    /// - Parameter route: Its position on the lane.
    func origin(of route: Int) -> ResultOrigin { origins[route] }

    /// Names one of several results queues. All results of a job outside of batches go to the same queue.
    private func addResultsKey(of job: borrowing Job, to message: inout OutgoingMessage) {
        guard !resultsKeys.isEmpty else { return }
        // FNV-1a: all workers and versions must agree.
        var hash: UInt32 = 0x811C_9DC5
        for position in job.jobID { hash = (hash ^ UInt32(job.bytes[position])) &* 0x0100_0193 }
        message.addHeader(name: Self.hiddenCopies.span, value: resultsKeys[Int(hash % UInt32(resultsKeys.count))])
    }

    /// The header with further routing keys. The broker removes it.
    private static let hiddenCopies = Array("\(BrokerHeader.hiddenCopies)".utf8)

    private func renderResult(
        _ report: ResultReport, of publication: Publication, into message: inout OutgoingMessage
    ) {
        // The job is read in place, never copied: it is 400 bytes with several references.
        let inFlight = publication.job
        let bytes = inFlight.job.bytes
        message.setContentType(MessageName.jsonContentType)
        message.setType(MessageName.resultType)
        let id = ResultReport.messageID(of: report.index, for: inFlight.job)
        inFlight.noteResult(id, of: report.index)
        message.setMessageID { id.append(to: &$0) }
        message.setCorrelationID(bytes.span.extracting(inFlight.job.correlationID ?? inFlight.job.jobID))
        message.addHeader(HeaderName.outcome, text: report.final.outcome.text)
        if let status = report.final.status { message.addHeader(HeaderName.status, integer: Int64(status)) }
        if let reason = report.final.reason {
            message.addHeader(HeaderName.reason) { $0.append(contentsOf: reason.rawValue.utf8) }
        }
        message.addHeader(HeaderName.attempt, integer: Int64(inFlight.job.attempt))
        if report.isSuppressedDuplicate { message.addHeader(HeaderName.duplicate, text: MessageName.suppressed) }
        if let traceparent = inFlight.job.traceparent {
            message.addHeader(HeaderName.traceparent, text: bytes.span.extracting(traceparent))
        }
        message.withBody { report.appendBody(for: inFlight.job, from: origins[publication.route], to: &$0) }
    }
}

// MARK: Copies of the job

extension PublicationRenderer {
    /// Copies body, properties and headers. Leaves out:
    ///
    /// - properties and headers that the broker would act on (`user_id`, `expiration`, `CC`, `BCC`);
    /// - headers that the broker wrote;
    /// - our own headers, which are written anew.
    ///
    /// - Parameter keepingTimes: Whether the headers with the deadline and `not_before` are copied as the producer
    ///   wrote them. A dead letter keeps them, because it may be about a mistake in them. A retry copy writes them
    ///   anew. So it has them even where it goes without the producer's headers.
    private func copyJob(
        of inFlight: JobInFlight, keepingTimes: Bool, withHeaders: Bool, into message: inout OutgoingMessage
    ) {
        let job = inFlight.job
        let bytes = job.bytes.span
        if Self.hasOwnID(job) { message.setMessageID(bytes.extracting(job.jobID)) }
        message.setBody(bytes.extracting(job.body))
        // A job with malformed properties was refused for them. Its dead letter goes without them.
        guard let properties = try? MessagePropertyReader(job.bytes, inFlight.properties) else { return }
        JobCopy.copy(properties, of: job.bytes, to: &message)
        // A job with a header table over the limits was refused for it. Its dead letter goes without the table.
        let isOverLimit = inFlight.refusal?.reason == .badHeaders
        let limit = isOverLimit ? FieldTableReader.maximumSize : FieldTableReader.maximumSizeOfCopies
        guard withHeaders, let table = properties.headers,
            (try? FieldTable(reading: table, in: job.bytes, maximumSize: limit)) != nil
        else { return }
        var reader = FieldTableReader(table, maximumSize: limit)
        while let field = try? reader.next(in: job.bytes) {
            let name = bytes.extracting(field.name)
            // The indexes of an unread body are copied as they are. Without them, the copy would mean all device
            // tokens.
            guard !JobCopy.isRewritten(name) || (job.isUnread && name.isText(HeaderName.indexes)),
                keepingTimes || !(name.isText(HeaderName.deadline) || name.isText(HeaderName.notBefore))
            else { continue }
            try? message.addHeader(copying: field, from: job.bytes)
        }
    }

    /// Whether a copy carries the job's id as its `message_id`. An unread body may hold another id. A generated
    /// `message_id` would contradict that id for ever.
    private static func hasOwnID(_ job: borrowing Job) -> Bool { !(job.isUnread && job.generatedID) }

    private func addRetryHeaders(
        _ job: borrowing Job, attempt: Int, firstAttemptAt: Int64?, to message: inout OutgoingMessage
    ) {
        message.addHeader(HeaderName.version, integer: 1)
        message.addHeader(HeaderName.attempt, integer: Int64(attempt))
        if let firstAttemptAt { message.addHeader(HeaderName.firstAttemptAt, integer: firstAttemptAt) }
        if let deadline = job.deadline { message.addHeader(HeaderName.deadline, integer: deadline) }
        if let notBefore = job.notBefore { message.addHeader(HeaderName.notBefore, integer: notBefore) }
    }

    private func addDeadLetterHeaders(_ final: FinalReport, of inFlight: JobInFlight, to message: inout OutgoingMessage)
    {
        let job = inFlight.job
        message.addHeader(HeaderName.outcome, text: final.outcome.text)
        message.addHeader(HeaderName.action, text: final.action.text)
        if let reason = final.reason {
            message.addHeader(HeaderName.reason) { $0.append(contentsOf: reason.rawValue.utf8) }
        }
        if let status = final.status { message.addHeader(HeaderName.status, integer: Int64(status)) }
        message.addHeader(HeaderName.attempt, integer: Int64(job.attempt))
        if let detail = final.detail {
            message.addHeader(HeaderName.detail) { $0.append(contentsOf: detail.utf8.prefix(1_024)) }
        }
        let key = job.firstRoutingKey ?? job.routingKey
        message.addHeader(HeaderName.originalRoutingKey, text: job.bytes.span.extracting(key))
        message.addHeader(HeaderName.firstAttemptAt, integer: job.firstAttemptAt ?? inFlight.receivedAt)
        // Not the present time: a message written again after a lost connection is the same message.
        message.addHeader(HeaderName.diedAt, integer: inFlight.settledAt ?? inFlight.receivedAt)
        message.addHeader(HeaderName.worker, text: worker.span)
    }

    /// - Parameter times: The times of a multicast job's device tokens; empty if the report has the only time.
    private func addInvalidSince(_ final: FinalReport, _ times: [Int64], to message: inout OutgoingMessage) {
        guard let first = times.first ?? final.tokenInvalidSince else { return }
        message.addHeader(HeaderName.tokenInvalidSince) { text in
            text.append(contentsOf: "\(first)".utf8)
            for time in times.dropFirst() { text.append(contentsOf: ",\(time)".utf8) }
        }
    }

    private func addIndexes(_ indexes: [Int]?, of job: borrowing Job, to message: inout OutgoingMessage) {
        if let indexes {
            message.addHeader(HeaderName.indexes) { IndexRanges(indexes).append(to: &$0) }
        } else if job.isMulticast, !job.indexes.isAll {
            message.addHeader(HeaderName.indexes) { job.indexes.append(to: &$0) }
        }
    }
}

extension Span where Element == UInt8 {
    /// Whether these bytes are the constant text.
    func isText(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && hasPrefix(text) }

    /// Whether these bytes begin with the constant text.
    func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for position in 0..<text.utf8CodeUnitCount where self[position] != text.utf8Start[position] { return false }
        return true
    }
}
