import TestSupport

/// The properties of a message (AMQP 0-9-1, 1.8.1). Those that the broker acts on are read; the others keep their bytes.
struct ModelProperties: Equatable {
    /// The bit of each property in the flags, in the order on the wire.
    enum Name: UInt16, CaseIterable {
        case contentType = 15
        case contentEncoding = 14
        case headers = 13
        case deliveryMode = 12
        case priority = 11
        case correlationID = 10
        case replyTo = 9
        case expiration = 8
        case messageID = 7
        case timestamp = 6
        case type = 5
        case userID = 4
        case appID = 3
        case clusterID = 2
    }

    var headers: WireTable?
    private var others: [Name: [UInt8]] = [:]

    init() {}

    init(reading bytes: [UInt8]) throws(WireError) {
        var reader = WireReader(bytes)
        let flags = try reader.u16()
        for name in Name.allCases where flags & 1 << name.rawValue != 0 {
            switch name {
            case .headers: headers = try reader.table()
            case .deliveryMode, .priority: others[name] = try reader.raw(1)
            case .timestamp: others[name] = try reader.raw(8)
            default: others[name] = try reader.shortBytes()
            }
        }
    }

    /// The bytes of a property other than the headers, without the length of a text.
    subscript(name: Name) -> [UInt8]? {
        get { others[name] }
        set { others[name] = newValue }
    }

    var bytes: [UInt8] {
        var flags: UInt16 = 0
        var values = Wire()
        for name in Name.allCases {
            if name == .headers {
                guard let headers else { continue }
                values.table(headers)
            } else {
                guard let bytes = others[name] else { continue }
                if ![.deliveryMode, .priority, .timestamp].contains(name) { values.u8(UInt8(bytes.count)) }
                values.raw(bytes)
            }
            flags |= 1 << name.rawValue
        }
        return Wire {
            $0.u16(flags)
            $0.raw(values.bytes)
        }.bytes
    }

    /// The time to live that the producer asked for, in milliseconds.
    var expiration: Int64? { others[.expiration].flatMap { Int64(String(decoding: $0, as: UTF8.self)) } }
}

/// A message in the broker.
struct ModelMessage: Equatable {
    /// Why a queue gave a message to its dead-letter exchange.
    enum Death: String {
        case expired
        case rejected
        case deliveryLimit = "delivery_limit"
        case maxlen
    }

    var exchange: String
    var routingKey: String
    var properties: ModelProperties
    var body: [UInt8]
    /// The client's bytes, for as long as the broker has changed no property.
    var original: [UInt8]?
    /// How often it was delivered in the queue in which it died. Since 4.0 the count goes along with a dead letter.
    var deliveredBefore = 0
    /// Whether the broker has written of its death.
    private var hasDied = false

    init(exchange: String, routingKey: String, properties: ModelProperties, body: [UInt8], original: [UInt8]) {
        (self.exchange, self.routingKey, self.properties) = (exchange, routingKey, properties)
        (self.body, self.original) = (body, original)
    }

    var propertyBytes: [UInt8] { original ?? properties.bytes }
    /// The length of the properties and the body.
    var size: Int { propertyBytes.count + body.count }

    /// Sets a header, which makes the message the broker's own.
    mutating func setHeader(_ name: String, _ value: WireValue) {
        var headers = properties.headers ?? WireTable()
        headers[name] = value
        properties.headers = headers
        original = nil
    }

    /// The message as a dead letter.
    ///
    /// - Parameters:
    ///   - seconds: Since 1970.
    ///   - key: The policy's `dead-letter-routing-key`.
    func dead(
        in queue: String, of reason: Death, at seconds: UInt64, to exchange: String, key: String?,
        version: ModelBroker.Version
    ) -> ModelMessage {
        var letter = self
        var headers = properties.headers ?? WireTable()
        var deaths: [WireValue] = []
        // Until 3.13 a history that a client wrote counts like the broker's own.
        if hasDied || version == .release310, case .array(let earlier)? = headers["x-death"] { deaths = earlier }
        let position = deaths.firstIndex { death in
            guard case .table(let table) = death else { return false }
            return table["queue"]?.string == queue && table["reason"]?.string == reason.rawValue
        }
        var death = WireTable()
        if let position, case .table(let earlier) = deaths.remove(at: position) {
            death = earlier
            death["count"] = .long((earlier["count"]?.number ?? 0) + 1)
            if version != .release310 { death["time"] = .timestamp(seconds) }
        } else {
            death["count"] = .long(1)
            death["reason"] = .text(reason.rawValue)
            death["queue"] = .text(queue)
            death["time"] = .timestamp(seconds)
            death["exchange"] = .text(self.exchange)
            death["routing-keys"] = .array([.text(routingKey)])
            if let expiration = properties[.expiration] { death["original-expiration"] = .text(expiration) }
        }
        headers["x-death"] = .array([.table(death)] + deaths)
        if headers["x-first-death-reason"] == nil {
            headers["x-first-death-reason"] = .text(reason.rawValue)
            headers["x-first-death-queue"] = .text(queue)
            headers["x-first-death-exchange"] = .text(self.exchange)
        }
        if version != .release310 {
            headers["x-last-death-reason"] = .text(reason.rawValue)
            headers["x-last-death-queue"] = .text(queue)
            headers["x-last-death-exchange"] = .text(self.exchange)
        }
        if key != nil { headers["CC"] = nil }
        letter.properties.headers = headers
        letter.properties[.expiration] = nil
        letter.hasDied = true
        letter.original = nil
        letter.exchange = exchange
        letter.routingKey = key ?? routingKey
        return letter
    }
}
