import APNSSimulator
import BrokerClient
import EventLoop
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Topology

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
    fileprivate func write(to message: inout OutgoingMessage) {
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

extension FaultRing {
    /// Publishes messages one after the other and waits until the broker confirmed them all; each is a promise.
    func publish(_ messages: [FaultMessage]) async throws {
        // Nested tables are nested objects here, which take a large stack to build, to write and to let go.
        let refused = try await BlockingWork.run("producer", stackSize: 256 << 20) { [local, audit] in
            let client = try local.connect("producer")
            defer { client.close() }
            var message = OutgoingMessage()
            var refused = 0
            for one in messages {
                one.write(to: &message)
                guard try client.publishConfirmed(message) == .confirmed else {
                    refused += 1
                    continue
                }
                audit.record { $0.promised(job: one.id, notifications: one.notifications) }
            }
            return refused
        }
        expect(refused == 0, "the broker refused \(refused) messages")
    }

    /// Publishes bad messages among good jobs, waits until all are settled, and expects that the good ones alone were
    /// pushed and that every bad one is in the dead letters.
    /// - Parameters:
    ///   - bad: The bad messages.
    ///   - good: How many good jobs come before and after them.
    func publish(bad: [FaultMessage], among good: Int) async throws {
        try await publish(good / 2)
        try await publish(bad)
        try await publish(good - good / 2)
        let pushed = promises - bad.count
        try await until("\(pushed) jobs are pushed") { [self] in pushes >= pushed }
        try await until("every bad job is in the dead letters") { [self] in
            let counts = try broker.queueCounts()
            return counts.allSatisfy { name, counts in !name.hasPrefix("apns.q.jobs.") || counts.total == 0 }
                && counts[TopologyNames.deadQueue]?.total == bad.count
        }
        expect(pushes == pushed, "\(pushes - pushed) bad jobs were pushed")
        let foreign = simulator.ledger.records(token: FaultMessage.unusedToken).count
        expect(foreign == 0, "\(foreign) pushes for a device token that only bad jobs have")
        note("\(bad.count) bad")
    }
}
