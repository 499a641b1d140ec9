import LocalStack
import PushModel
import RabbitMQ
import Rig

/// A message that no careful producer publishes.
struct FaultMessage: Sendable {
    /// Its `message_id`.
    var id = JobIdentifier.new()
    /// Its content type; nil for none.
    var contentType: String? = "application/vnd.apns.payload+json"
    /// Its routing key.
    var key = "development.normal.com.example.shop"
    /// Its device token in a header; nil for none.
    var token: String? = FaultMessage.unusedToken
    /// Where its reply goes; nil for none.
    var replyTo: String?
    /// Further headers.
    var headers: [FieldTable.Entry] = []
    /// How deep a table in its headers goes; it is made where it is needed, because it takes much stack to let go of.
    var nesting = 0
    /// Its body's first bytes.
    var body = Array(#"{"aps":{"alert":"Your order is on its way"}}"#.utf8)
    /// Its body's size, where spaces fill it up.
    var size = 0
    /// How many device tokens are in its body.
    var notifications = 1

    /// A device token that nothing may be pushed to.
    static let unusedToken = String(repeating: "5ec2e7ab", count: 8)

    /// An enveloped message with this body.
    static func enveloped(_ body: String) -> FaultMessage {
        FaultMessage(contentType: "application/json", token: nil, body: Array(body.utf8))
    }

    /// The same message with something changed; each has an id of its own.
    func with(_ change: (inout FaultMessage) -> Void) -> FaultMessage {
        var copy = self
        copy.id = JobIdentifier.new()
        change(&copy)
        return copy
    }

    /// Writes it; a thread with a large stack has to do that.
    func write(to message: inout OutgoingMessage) {
        message.reset()
        message.isMandatory = true
        message.setExchange("apns.jobs")
        message.setRoutingKey(Array(key.utf8).span)
        message.setMessageID(Array(id.utf8).span)
        if let replyTo { message.setReplyTo(Array(replyTo.utf8).span) }
        if let contentType { message.setContentType(Array(contentType.utf8).span) }
        if let token { message.addHeader(HeaderName.deviceToken) { $0.append(contentsOf: token.utf8) } }
        for header in headers { message.addHeader(name: header.name.span, value: header.value) }
        if nesting > 0 {
            var table = FieldTable()
            let name = [UInt8(ascii: "n")]
            for _ in 0..<nesting { table = FieldTable(entries: [.init(name: name, value: .table(table))]) }
            message.addHeader(name: Array("deep".utf8).span, value: .table(table))
        }
        message.withBody { bytes in
            bytes.append(contentsOf: body)
            // An array, because in debug builds 120 MB that are appended one by one take longer than two heartbeats.
            bytes += [UInt8](repeating: UInt8(ascii: " "), count: max(0, size - body.count))
        }
    }
}
