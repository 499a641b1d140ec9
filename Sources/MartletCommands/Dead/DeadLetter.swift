import PushModel
import Rig
import Text
import Topology

/// A dead letter as `martlet dead` shows it: a job, and why it ended as the worker or the broker says.
struct DeadLetter {
    /// The message.
    let message: BrokerMessage
    /// Who wrote it, and the key of its job.
    let origin: LetterOrigin

    /// A letter as it came from its queue.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - provesDeaths: Whether the broker lets nobody else write `x-death`.
    init(message: BrokerMessage, provesDeaths: Bool) {
        self.message = message
        origin = LetterOrigin(
            exchange: message.exchange, routingKey: message.routingKey, deaths: message.deaths,
            keptKey: message.header(HeaderName.originalRoutingKey), provesDeaths: provesDeaths)
    }

    /// Whether the broker wrote the letter, for example because of a delivery limit or a producer's own expiration.
    var isFromBroker: Bool { origin.account != nil }

    /// A header in which a worker says what became of the job; nil in a letter of the broker, where the producer wrote
    /// it.
    func workersHeader(_ name: StaticString) -> String? { isFromBroker ? nil : message.header(name) }

    /// What happened: the outcome, or the broker's reason such as `broker: delivery_limit`.
    var outcome: String {
        guard let account = origin.account else { return workersHeader(HeaderName.outcome) ?? "-" }
        return account.reason.map { "broker: \($0)" } ?? "broker"
    }

    /// The reason that APNs or the worker gave; nil without one.
    var reason: String? { workersHeader(HeaderName.reason) }

    /// What the results of a job say whose letter the broker wrote (`DeadLetters.md`, "Letters that the broker wrote");
    /// nil for a worker's letter, and for other reasons of the broker.
    var resultOfBrokers: (outcome: Outcome, reason: Reason)? {
        switch origin.account?.reason {
        case "delivery_limit": (.exhausted, .poison)
        case "expired": (.expired, .expirationPassed)
        case "rejected": (.invalid, .bodyTooLarge)
        default: nil
        }
    }

    /// Whether it has an outcome: in a worker's header, as it is listed, or in the results of its job.
    func has(outcome wanted: String) -> Bool { wanted == outcome || wanted == resultOfBrokers?.outcome.rawValue }

    /// Whether it has a reason: in a worker's header, or in the results of its job.
    func has(reason wanted: String) -> Bool { wanted == reason || wanted == resultOfBrokers?.reason.rawValue }

    /// The topic. A worker writes it into its letter's key, unless nothing proves that the job was for it. Where the
    /// broker wrote the letter, or somebody moved it, the topic is that of the job's key.
    var topic: String {
        let isWorkers = !isFromBroker && message.exchange == TopologyNames.dead
        let parts = (isWorkers ? message.routingKey : jobRoutingKey).split(
            separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[2]) : "-"
    }

    /// When the job died, in milliseconds since 1970; nil if neither a worker nor the broker says when.
    var diedAt: Int64? {
        guard let account = origin.account else { return workersHeader(HeaderName.diedAt).flatMap { Int64($0) } }
        return account.time.map { Int64(clamping: $0) *| 1_000 }
    }

    /// The producer's own words about the job, from its header or its body.
    var reference: String? {
        message.header(HeaderName.reference) ?? JSON.lastText(of: "\(JobField.reference)", in: message.body)
    }

    /// The routing key that the job came with; the letter's own key where nobody knows that.
    var jobRoutingKey: String { (try? origin.key.get()) ?? message.routingKey }

    /// Whether the job's id begins so.
    ///
    /// - Parameter id: The job id, or the beginning of one.
    func hasID(beginningWith id: String) -> Bool { !id.isEmpty && message.messageID.hasPrefix(id) }

    /// One line of the list.
    var line: String {
        let moment = diedAt.map { DateTime.write($0, withMilliseconds: true) }
        var parts = [moment ?? "-".padded(to: 24), outcome.padded(to: 10)]
        parts.append(
            [workersHeader(HeaderName.status), reason].compactMap(\.self).joined(separator: " ").padded(to: 24))
        parts.append(message.messageID.isEmpty ? "(no id)" : message.messageID)
        parts.append(topic)
        if let attempt = workersHeader(HeaderName.attempt) { parts.append("attempt \(attempt)") }
        if let indexes = message.header(HeaderName.indexes) { parts.append("indexes \(indexes)") }
        if let detail = workersHeader(HeaderName.detail) { parts.append("— \(detail)") }
        return parts.joined(separator: "  ")
    }

    /// Everything about it, for people: properties, headers, body.
    var fullText: [String] {
        var lines = ["routing key   \(message.routingKey)", "message_id    \(message.messageID)"]
        if let type = message.contentType { lines.append("content_type  \(type)") }
        if let correlation = message.correlationID { lines.append("correlation_id \(correlation)") }
        if let replyTo = message.replyTo { lines.append("reply_to      \(replyTo)") }
        if let account = origin.account {
            lines.append("written by    RabbitMQ: \(account.reason ?? "no reason") in \(account.queue ?? "no queue")")
            lines.append("              every header but \(BrokerHeader.death) is the producer's or the broker's count")
        }
        for header in message.headers { lines.append("\(header.name): \(header.value)") }
        // Printing shows a line end as an escape, so the body's lines are split here.
        let body = String(decoding: message.body, as: UTF8.self)
        return lines + [""] + body.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The letter for programs.
    ///
    /// - Parameter withBody: Whether the job's body, with its device tokens and payload, is part of it.
    func json(withBody: Bool) -> JSON {
        var members: [(String, JSON)] = [
            ("id", .text(message.messageID)), ("outcome", .text(outcome)), ("reason", .optional(reason)),
            ("topic", .text(topic)), ("died_at", .optional(diedAt)), ("routing_key", .text(message.routingKey)),
            ("content_type", .optional(message.contentType)),
            ("headers", .object(message.headers.map { ($0.name, .text($0.value)) })),
        ]
        if withBody { members.append(("body", .text(String(decoding: message.body, as: UTF8.self)))) }
        return .object(members)
    }
}
