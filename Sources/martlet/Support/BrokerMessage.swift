import RabbitMQ

/// What became of a published job.
struct PublishFate {
    /// The broker's answer.
    enum Kind: String {
        /// The broker has it in a queue.
        case confirmed
        /// No queue is bound to its key, not even through the alternate exchange.
        case returned = "unroutable"
        /// The broker refused it, because a queue is full.
        case refused

        /// The answer in a sentence.
        var explanation: String {
            switch self {
            case .confirmed: "confirmed"
            case .returned: "no queue is bound to this key"
            case .refused: "the broker refused it; a queue may be full"
            }
        }
    }

    /// The broker's answer.
    var kind: Kind
    /// The job's id.
    var messageID: String
    /// The job's routing key.
    var routingKey: String
}

/// A message taken from a queue and not settled yet, as text: for listings, not for the hot path.
struct BrokerMessage {
    /// What came from the broker, for settling.
    var delivery: Delivery
    /// The property `message_id`, empty without one.
    var messageID = ""
    /// The property `content_type`.
    var contentType: String?
    /// The property `correlation_id`.
    var correlationID: String?
    /// The property `reply_to`.
    var replyTo: String?
    /// Its headers as text, in the order of the wire.
    var headers: [(name: String, value: String)] = []

    /// Reads the properties of a delivery; damaged ones are left out, so that a bad message can still be looked at.
    /// - Parameter delivery: The delivery.
    init(_ delivery: Delivery) {
        self.delivery = delivery
        guard let properties = try? MessagePropertyReader(delivery.bytes, delivery.properties) else { return }
        messageID = properties.messageID.map(text) ?? ""
        contentType = properties.contentType.map(text)
        correlationID = properties.correlationID.map(text)
        replyTo = properties.replyTo.map(text)
        guard let table = properties.headers,
            let fields = try? FieldTable(reading: table, in: delivery.bytes, maximumSize: 1 << 20)
        else { return }
        headers = fields.entries.map { (String(decoding: $0.name, as: UTF8.self), Self.text($0.value)) }
    }

    /// The key it was published with.
    var routingKey: String { text(delivery.routingKey) }

    /// The body.
    var body: [UInt8] { Array(delivery.bytes[delivery.body]) }

    /// The text of the first header with a name.
    /// - Parameter name: The header's name.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    private func text(_ range: Range<Int>) -> String { String(decoding: delivery.bytes[range], as: UTF8.self) }

    /// A header's value as people read it.
    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .bytes(let bytes): bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        case .timestamp(let seconds): TimeText.moment(Int64(clamping: seconds) &* 1000)
        case .float(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let scale, let value): "\(value)e-\(scale)"
        case .table(let table):
            "{\(table.entries.map { "\(String(decoding: $0.name, as: UTF8.self)): \(text($0.value))" }.joined(separator: ", "))}"
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .void: ""
        }
    }
}
