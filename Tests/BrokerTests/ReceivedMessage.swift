import RabbitMQ

/// A message that came from the broker.
struct ReceivedMessage {
    var exchange: String
    var routingKey: [UInt8]
    var contentType: [UInt8]?
    var contentEncoding: [UInt8]?
    var messageID: [UInt8]?
    var correlationID: [UInt8]?
    var replyTo: [UInt8]?
    var type: [UInt8]?
    var headers: [WireHeader] = []
    var body: [UInt8]
    var isRedelivered: Bool

    /// Copies everything out of a delivery.
    init(_ delivery: Delivery) throws {
        let bytes = delivery.bytes
        let properties = try MessagePropertyReader(bytes, delivery.properties)
        func copy(_ range: Range<Int>?) -> [UInt8]? { range.map { Array(bytes[$0]) } }
        exchange = String(decoding: bytes[delivery.exchange], as: UTF8.self)
        routingKey = Array(bytes[delivery.routingKey])
        contentType = copy(properties.contentType)
        contentEncoding = copy(properties.contentEncoding)
        messageID = copy(properties.messageID)
        correlationID = copy(properties.correlationID)
        replyTo = copy(properties.replyTo)
        type = copy(properties.type)
        body = Array(bytes[delivery.body])
        isRedelivered = delivery.redelivered
        guard let table = properties.headers else { return }
        var reader = FieldTableReader(table, maximumSize: 1 << 20)
        while let field = try reader.next(in: bytes) {
            headers.append(
                WireHeader(
                    name: String(decoding: bytes[field.name], as: UTF8.self),
                    kind: Character(Unicode.Scalar(field.kind)), value: try FieldValue(field, in: bytes)))
        }
    }

    /// The text of a header.
    func text(_ name: String) -> String? {
        guard case .text(let bytes) = headers.first(where: { $0.name == name })?.value else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number in a header.
    func number(_ name: String) -> Int64? {
        guard case .integer(let number) = headers.first(where: { $0.name == name })?.value else { return nil }
        return number
    }
}
