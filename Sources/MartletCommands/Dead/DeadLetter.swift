import PushModel
import Rig
import Text

/// A dead letter as `martlet dead` shows it: a job, and why it ended as the worker or the broker says.
struct DeadLetter {
    /// The message.
    let message: BrokerMessage

    /// Whether the broker wrote the letter, for example because of a delivery limit or a producer's own expiration.
    /// Such a letter has no header with an outcome.
    var isFromBroker: Bool { message.header(HeaderName.outcome) == nil }

    /// What happened: the outcome, or the broker's reason such as `broker: delivery_limit`.
    var outcome: String {
        if let outcome = message.header(HeaderName.outcome) { return outcome }
        return brokersReason.map { "broker: \($0)" } ?? "broker"
    }

    private var brokersReason: String? { message.lastDeath?.reason ?? message.header(BrokerHeader.firstDeathReason) }

    /// The reason that APNs or the worker gave; nil without one.
    var reason: String? { message.header(HeaderName.reason) }

    /// What the results of a job say whose letter the broker wrote (`DeadLetters.md`, "Letters that the broker wrote");
    /// nil for a worker's letter, and for other reasons of the broker.
    var resultOfBrokers: (outcome: Outcome, reason: Reason)? {
        guard isFromBroker else { return nil }
        return switch brokersReason {
        case "delivery_limit": (.invalid, .poison)
        case "expired": (.expired, .expirationPassed)
        case "rejected": (.invalid, .bodyTooLarge)
        default: nil
        }
    }

    /// Whether it has an outcome: in a header, as it is listed, or in the results of its job.
    func has(outcome wanted: String) -> Bool { wanted == outcome || wanted == resultOfBrokers?.outcome.rawValue }

    /// Whether it has a reason: in a header, or in the results of its job.
    func has(reason wanted: String) -> Bool { wanted == reason || wanted == resultOfBrokers?.reason.rawValue }

    /// The topic, from the key of the job or of the dead letter.
    var topic: String {
        let key = message.header(HeaderName.originalRoutingKey) ?? message.routingKey
        let parts = key.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[2]) : "-"
    }

    /// When the job died, in milliseconds since 1970; nil if neither a worker nor the broker says when.
    var diedAt: Int64? {
        if let time = message.header(HeaderName.diedAt) { return Int64(time) }
        // Of a worker's letter this would be the time of a retry copy in its tier.
        guard isFromBroker, let seconds = message.lastDeath?.time, seconds < 1 << 40 else { return nil }
        return Int64(seconds) * 1_000
    }

    /// The producer's own words about the job, from its header or its body.
    var reference: String? {
        message.header(HeaderName.reference)
            ?? (try? JSON(reading: message.body))?.members.last { $0.0 == "\(JobField.reference)" }?.1.text
    }

    /// The routing key that the job came with. A worker's letter has it in a header. A letter of the broker's has it as
    /// its own key, or, where an alternate exchange changed that, in the account of its last death.
    var jobRoutingKey: String {
        if let key = message.header(HeaderName.originalRoutingKey) { return key }
        if !isFromBroker || message.routingKey.split(separator: ".").first != "invalid" { return message.routingKey }
        return message.lastDeath?.routingKey ?? message.routingKey
    }

    /// Whether the job's id begins so.
    ///
    /// - Parameter id: The job id, or the beginning of one.
    func hasID(beginningWith id: String) -> Bool { !id.isEmpty && message.messageID.hasPrefix(id) }

    /// One line of the list.
    var line: String {
        let moment = diedAt.map { DateTime.write($0, withMilliseconds: true) }
        var parts = [moment ?? "-".padded(to: 24), outcome.padded(to: 10)]
        parts.append(
            [message.header(HeaderName.status), reason].compactMap(\.self).joined(separator: " ").padded(to: 24))
        parts.append(message.messageID.isEmpty ? "(no id)" : message.messageID)
        parts.append(topic)
        if let attempt = message.header(HeaderName.attempt) { parts.append("attempt \(attempt)") }
        if let indexes = message.header(HeaderName.indexes) { parts.append("indexes \(indexes)") }
        if let detail = message.header(HeaderName.detail) { parts.append("— \(detail)") }
        return parts.joined(separator: "  ")
    }

    /// Everything about it, for people: properties, headers, body.
    var fullText: [String] {
        var lines = ["routing key   \(message.routingKey)", "message_id    \(message.messageID)"]
        if let type = message.contentType { lines.append("content_type  \(type)") }
        if let correlation = message.correlationID { lines.append("correlation_id \(correlation)") }
        if let replyTo = message.replyTo { lines.append("reply_to      \(replyTo)") }
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
