import LocalStack
import RabbitMQ
import Testing

@testable import MartletCommands

@Suite("A message that the broker cannot deliver", .timeLimit(.minutes(1)))
struct UndeliverableTests {
    @Test(
        "The failure names the queue, the place and the way out",
        arguments: [(0, "among the first of apns.q.dead"), (12, "in apns.q.dead behind at least 12 others")])
    func text(count: Int, place: String) {
        let error = AMQPError(.connectionClosed, "the broker closed the connection: INTERNAL_ERROR", replyCode: 541)
        let failure = CommandConnection.failure(error, consuming: ("apns.q.dead", count), at: "amqp://host")
        #expect(failure.status == .refused && failure.message.contains("a message \(place) that it cannot deliver"))
        #expect(failure.message.contains("INTERNAL_ERROR"))
        #expect(failure.remedy?.contains("AMQP 1.0 client") == true)
    }

    @Test(
        "Where nothing is consumed, and with another code, the connection is to blame",
        arguments: [(541, nil), (320, "apns.q.dead"), (nil, "apns.q.dead")] as [(UInt16?, String?)])
    func others(code: UInt16?, queue: String?) {
        let error = AMQPError(.connectionClosed, "the broker closed the connection", replyCode: code)
        let failure = CommandConnection.failure(error, consuming: queue.map { ($0, 3) }, at: "amqp://host")
        #expect(failure.status == .unreachable && failure.message == "amqp://host: \(error)")
    }

    @Test("Messages that came before are counted, and a channel that crashed while a queue is consumed is a delivery")
    func counted() throws {
        let broker = try SharedBroker.broker.get()
        let link = try CommandConnection.open(BrokerSettings(uri: broker.uri))
        defer { link.close() }
        try link.declareExclusive("undeliverable", maximumLength: nil)
        for number in 0..<2 {
            let message = OutgoingJob(
                routingKey: "undeliverable", contentType: "application/json", messageID: "\(number)", body: [],
                notifications: 0)
            try link.publish(message, exchange: "", replyTo: nil) { _ in }
        }
        try link.finishPublishing { _ in }
        try link.consume("undeliverable", prefetch: 10)
        for _ in 0..<2 { #expect(try link.next(timeout: .seconds(20)) != nil) }
        try broker.evaluate("[exit(Channel, crash) || Channel <- rabbit_channel:list()].")
        let failure = #expect(throws: CommandFailure.self) {
            while try link.next(timeout: .seconds(20)) == nil {}
        }
        #expect(failure?.message.contains("in undeliverable behind at least 2 others") == true, "\(failure as Any)")
    }
}
