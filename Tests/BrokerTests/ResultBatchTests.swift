import BrokerClient
import LocalStack
import PushModel
import Testing

@Suite("Several results in a message", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct ResultBatchTests {
    /// Publishes jobs, lets a worker push them, and takes what stands in the results queue.
    ///
    /// - Parameters:
    ///   - stack: Where to.
    ///   - multicast: Bodies of jobs with ten device tokens.
    ///   - singles: How many jobs with one device token there are, too.
    private func results(
        _ stack: BrokerStack, multicast: [String], singles: Int
    ) async throws -> [ReceivedMessage] {
        let client = try JobClient(stack)
        defer { client.close() }
        let many = multicast.enumerated().map { (job: TestJob.enveloped($1), correlation: "many \($0)") }
        let token = String(repeating: "a1b2c3d4", count: 8)
        let one = (0..<singles).map { number in
            let body = #"{"device_token":"\#(token)","payload":{"aps":{"alert":"\#(number)"}}}"#
            return (job: TestJob.enveloped(body), correlation: "one \(number)")
        }
        try client.publish(many + one)
        let worker = try stack.startWorker()
        try stack.awaitPushes(10 * multicast.count + singles)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
        let reader = try stack.connect()
        defer { reader.close() }
        var messages: [ReceivedMessage] = []
        while let delivery = try reader.get(queue: "apns.q.results") {
            messages.append(try ReceivedMessage(delivery))
            try reader.acknowledge(delivery)
        }
        return messages
    }

    /// The body of a job with ten device tokens.
    private static func multicast(_ fields: String = "") -> String {
        let tokens = (0..<10).map { "\"\(String(repeating: "a1b2c3d\($0)", count: 8))\"" }.joined(separator: ",")
        return #"{"device_tokens":[\#(tokens)],"payload":{"aps":{"alert":"x"}}\#(fields)}"#
    }

    private static func isBatch(_ message: ReceivedMessage) -> Bool {
        message.type.map { String(decoding: $0, as: UTF8.self) } == "apns.results.v1"
    }

    @Test("Each notification has one result, in fewer messages than there are results, and nothing is left")
    func configured() async throws {
        let stack = try await BrokerStack.start("batched", settings: "results: { batch: 100, queues: 1 }")
        let jobs = Array(repeating: Self.multicast(), count: 20)
        let messages = try await results(stack, multicast: jobs, singles: 100)
        #expect(messages.allSatisfy(Self.isBatch))
        let entries = try messages.flatMap { try #require(ResultBatchReader.entries(in: $0.body)) }
        #expect(entries.count == 300 && Set(entries.map(\.messageID)).count == 300)
        #expect(messages.count < 200, "\(messages.count) messages for 300 results")
        #expect(messages.allSatisfy { String(decoding: $0.routingKey, as: UTF8.self).hasPrefix("accepted.") })
    }

    @Test("A job that asks for batches has its results in them, and no other job has")
    func asked() async throws {
        let stack = try await BrokerStack.start("asked")
        let jobs = Array(repeating: Self.multicast(#","results":"batch""#), count: 10)
        let messages = try await results(stack, multicast: jobs, singles: 20)
        let (batches, others) = (messages.filter(Self.isBatch), messages.filter { !Self.isBatch($0) })
        let entries = try batches.flatMap { try #require(ResultBatchReader.entries(in: $0.body)) }
        #expect(others.count == 20 && entries.count == 100 && Set(entries.map(\.messageID)).count == 100)
    }
}
