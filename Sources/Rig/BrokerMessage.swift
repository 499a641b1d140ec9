import PushModel
package import RabbitMQ
import Text

/// A message that was taken from a queue and is not settled yet, as text: for listings, not for the hot path.
package struct BrokerMessage {
    /// What came from the broker, for settling.
    package var delivery: Delivery
    /// The property `message_id`, empty without one.
    package var messageID = ""
    /// The property `content_type`.
    package var contentType: String?
    /// The property `correlation_id`.
    package var correlationID: String?
    /// The property `reply_to`.
    package var replyTo: String?
    /// Its headers as text, in the order of the wire.
    package var headers: [(name: String, value: String)] = []
    /// How it was dead-lettered, from the header `x-death`, the last time first; empty if it never was. The broker puts
    /// its own entry first. Up to RabbitMQ 3.13 a producer can write the others, and what the first one says beside
    /// queue and reason.
    package var deaths: [Death] = []
    /// The most bytes of headers that are read: more than a frame has.
    private static let maximumSize = 1 << 20

    /// What the broker says of one dead-lettering. [Dead letter exchanges](https://www.rabbitmq.com/docs/dlx#effects)
    package struct Death: Equatable {
        /// The queue that dead-lettered it; nil if the broker does not say.
        package var queue: String?
        /// The exchange that it was published to; nil if the broker does not say.
        package var exchange: String?
        /// Why the queue dead-lettered it, such as `expired`; nil if the broker does not say.
        package var reason: String?
        /// When, in seconds since 1970; nil if the broker does not say.
        package var time: UInt64?

        /// A dead-lettering of which nothing is known but what is given.
        package init(queue: String? = nil, exchange: String? = nil, reason: String? = nil, time: UInt64? = nil) {
            self.queue = queue
            self.exchange = exchange
            self.reason = reason
            self.time = time
        }

        /// Reads an entry of `x-death`.
        fileprivate init(_ entry: FieldTable) {
            func text(_ name: String) -> String? {
                guard case .text(let bytes)? = entry[name] else { return nil }
                return String(decoding: bytes, as: UTF8.self)
            }
            (queue, exchange, reason) = (text("queue"), text("exchange"), text("reason"))
            if case .timestamp(let seconds)? = entry["time"] { time = seconds }
        }
    }

    /// Reads the properties of a delivery; damaged ones are left out, so that a bad message can still be looked at.
    ///
    /// - Parameter delivery: The delivery.
    package init(_ delivery: Delivery) {
        self.delivery = delivery
        guard let properties = try? MessagePropertyReader(delivery.bytes, delivery.properties) else { return }
        messageID = properties.messageID.map(text) ?? ""
        contentType = properties.contentType.map(text)
        correlationID = properties.correlationID.map(text)
        replyTo = properties.replyTo.map(text)
        guard let table = properties.headers,
            let fields = try? FieldTable(usableOf: table, in: delivery.bytes, maximumSize: Self.maximumSize)
        else { return }
        headers = fields.entries.map { (String(decoding: $0.name, as: UTF8.self), Self.text($0.value)) }
        guard case .array(let entries)? = fields["\(BrokerHeader.death)"] else { return }
        deaths = entries.compactMap { if case .table(let entry) = $0 { Death(entry) } else { nil } }
    }

    /// The same message without its bytes, for its acknowledgement.
    package var withoutContent: BrokerMessage {
        var message = self
        message.delivery.bytes = []
        (message.headers, message.deaths) = ([], [])
        return message
    }

    /// The exchange it was published to; empty for the default exchange.
    package var exchange: String { text(delivery.exchange) }

    /// The key it was published with.
    package var routingKey: String { text(delivery.routingKey) }

    /// The body.
    package var body: [UInt8] { Array(delivery.bytes[delivery.body]) }

    /// The text of the first header with a name.
    ///
    /// - Parameter name: The header's name.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The text of the first header with a name of the contract.
    ///
    /// - Parameter name: The header's name.
    package func header(_ name: StaticString) -> String? { header("\(name)") }

    private func text(_ range: Range<Int>) -> String { String(decoding: delivery.bytes[range], as: UTF8.self) }

    /// A header's value as people read it.
    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .bytes(let bytes): HexText.text(bytes)
        case .integer(let number), .narrow(let number, _): "\(number)"
        case .unsigned(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        case .timestamp(let seconds): DateTime.write(Int64(clamping: seconds) *| 1000, withMilliseconds: true)
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
