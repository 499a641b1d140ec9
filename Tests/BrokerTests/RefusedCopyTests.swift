import APNSSimulator
import BrokerClient
import LocalStack
import RabbitMQ
import Testing

@Suite("Copies that the broker refuses and keeps", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RefusedCopyTests {
    /// A queue of one client that is full, and refuses what else comes.
    private static func declareFullQueue(_ client: AMQPBlockingClient) throws -> String {
        let queue = try client.declareQueue(
            exclusive: true,
            arguments: FieldTable(entries: [
                .init(name: Array("x-max-length".utf8), value: .integer(1)),
                .init(name: Array("x-overflow".utf8), value: .text(Array("reject-publish".utf8))),
            ]))
        var message = OutgoingMessage()
        message.isMandatory = true
        message.setRoutingKey(Array(queue.utf8).span)
        message.setMessageID(Array("filling".utf8).span)
        for _ in 0..<10 where try client.publishConfirmed(message) != .confirmed { return queue }
        throw RingFailure("\(queue) refuses nothing")
    }

    @Test("A copy that its tier took and another queue refused says so when it goes out again: it is pushed once")
    func stored() async throws {
        let stack = try await BrokerStack.start("refused-copy", tiers: [4_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let copies = try client.tap("apns.retry.4s")
        let refusing = try stack.connect()
        defer { refusing.close() }
        let full = try Self.declareFullQueue(refusing)
        try refusing.bind(queue: full, exchange: "apns.retry.4s", routingKey: "")
        let worker = try stack.startWorker()
        let token = "fa111503" + String(repeating: "c", count: 56)
        try client.publish(.raw(token: .text(Array(token.utf8))), as: "copied")
        #expect(try client.next("copied", from: copies).text("x-apns-duplicate") == nil)
        #expect(try client.next("copied", from: copies).text("x-apns-duplicate") == "possible")
        try refusing.delete(queue: full)
        let result = try client.result("copied").result
        #expect(result.outcome == "accepted" && result.attempt == 2, "\(result)")
        #expect(try stack.leftovers() == [:])
        try client.expectNothing(in: "apns.q.results")
        #expect(stack.simulator.ledger.records(token: token).map(\.status) == [503, 200])
        try await worker.stop()
    }
}
