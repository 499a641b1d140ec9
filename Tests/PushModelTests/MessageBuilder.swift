import Testing

@testable import PushModel

/// Builds the message of a job as a broker would deliver it.
struct MessageBuilder {
    enum Value {
        case text(String)
        case bytes([UInt8])
        case integer(Int64)
        case timestamp(UInt64)
        case other
    }

    static let token = "a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718"
    static let id = "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90"
    static let rawType = "application/vnd.apns.payload+json"

    var routingKey = "production.normal.com.example.app"
    var contentType: String?
    var contentEncoding: String?
    var messageID: String?
    var messageIDBytes: [UInt8]?
    var correlationID: String?
    var replyTo: String?
    var timestamp: UInt64?
    var redelivered = false
    var way = DeliveryWay.published
    var headers: [(String, Value)] = []
    var body: [UInt8]

    /// A raw job that is in order.
    static func raw(_ change: (inout MessageBuilder) -> Void = { _ in }) -> MessageBuilder {
        var builder = MessageBuilder(
            contentType: rawType, messageID: id, headers: [("apns-device-token", .text(token))],
            body: Array(#"{"aps":{"alert":"hello"}}"#.utf8))
        change(&builder)
        return builder
    }

    /// An enveloped job with this body, and nothing in its properties but the content type.
    static func enveloped(_ body: String, _ change: (inout MessageBuilder) -> Void = { _ in }) -> MessageBuilder {
        var builder = MessageBuilder(contentType: "application/json", body: Array(body.utf8))
        change(&builder)
        return builder
    }

    /// An enveloped job in order, with more fields.
    static func enveloped(
        adding fields: String, payload: String = #"{"aps":{"alert":"hello"}}"#,
        _ change: (inout MessageBuilder) -> Void = { _ in }
    ) -> MessageBuilder {
        let more = fields.isEmpty ? "" : "," + fields
        return enveloped(#"{"device_token":"\#(token)","payload":\#(payload)\#(more)}"#) {
            $0.messageID = id
            change(&$0)
        }
    }

    mutating func set(_ name: String, _ value: Value?) {
        headers.removeAll { $0.0 == name }
        if let value { headers.append((name, value)) }
    }

    func message() -> JobMessage {
        var bytes: [UInt8] = Array("exchange".utf8)
        func add(_ some: [UInt8]?) -> Range<Int>? {
            guard let some else { return nil }
            let start = bytes.count
            bytes += some
            return start..<bytes.count
        }
        func add(_ text: String?) -> Range<Int>? { add(text.map { Array($0.utf8) }) }
        let key = add(routingKey) ?? 0..<0
        let type = add(contentType)
        let encoding = add(contentEncoding)
        let id = messageIDBytes.map { add($0) } ?? add(messageID)
        let correlation = add(correlationID)
        let reply = add(replyTo)
        var entries: [(Range<Int>, HeaderValue)] = []
        for (name, value) in headers {
            let name = add(name) ?? 0..<0
            switch value {
            case .text(let text): entries.append((name, .text(add(text) ?? 0..<0)))
            case .bytes(let some): entries.append((name, .bytes(add(some) ?? 0..<0)))
            case .integer(let number): entries.append((name, .integer(number)))
            case .timestamp(let seconds): entries.append((name, .timestamp(seconds)))
            case .other: entries.append((name, .other(.decimal)))
            }
        }
        let bodyRange = add(body) ?? 0..<0
        var found = JobHeaders()
        for (name, value) in entries { found.take(name: name, value: value, in: bytes) }
        return JobMessage(
            bytes: bytes, routingKey: key, contentType: type, contentEncoding: encoding, messageID: id,
            correlationID: correlation, replyTo: reply, timestamp: timestamp, body: bodyRange,
            redelivered: redelivered, way: way, headers: found)
    }

    func decode() -> Result<Job, JobDefect> {
        JobDecoder().decode(message(), now: 1_763_712_800_100, random: { 0x1234_5678_9ABC_DEF0 })
    }

    func job(_ location: SourceLocation = #_sourceLocation) throws -> Job {
        switch decode() {
        case .success(let job): return job
        case .failure(let defect):
            Issue.record("\(defect.reason.rawValue): \(defect.detail)", sourceLocation: location)
            throw defect
        }
    }

    func defect(_ location: SourceLocation = #_sourceLocation) throws -> JobDefect {
        let result = decode()
        guard case .failure(let defect) = result else {
            Issue.record("the job was taken to be in order", sourceLocation: location)
            throw Unexpected()
        }
        return defect
    }

    struct Unexpected: Error {}
}
