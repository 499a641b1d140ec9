import BrokerClient
import LocalStack
import PushModel
import Testing

@Suite("Queues of results", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct ResultsQueueTests {
    @Test("Each result is in one of several queues, all of a job in the same, and a team has its own once more")
    func dealt() async throws {
        let stack = try await BrokerStack.start(
            "dealt",
            apps: [
                BrokerStack.App(route: "app", topic: "com.example.app", resultsQueue: "apns.q.results.team"),
                BrokerStack.App(route: "other", topic: "com.example.other"),
            ], settings: "results: { queues: 3 }")
        let client = try JobClient(stack)
        defer { client.close() }
        let tokens = (0..<2).map { "\"\(String(repeating: "a1b2c3d\($0)", count: 8))\"" }.joined(separator: ", ")
        let jobs = (0..<60).map { number in
            let topic = number < 40 ? "com.example.app" : "com.example.other"
            let body = #"{"v":1,"device_tokens":[\#(tokens)],"payload":{"aps":{"alert":"x"}}}"#
            let job = TestJob.enveloped(body).keyed("development.normal.\(topic)")
            return (job: job, correlation: "dealt \(number)")
        }
        try client.publish(jobs)
        let worker = try stack.startWorker()
        try stack.awaitPushes(120)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()

        let reader = try stack.connect()
        defer { reader.close() }
        func take(_ queue: String) throws -> [ReceivedMessage] {
            var messages: [ReceivedMessage] = []
            while let delivery = try reader.get(queue: queue) {
                messages.append(try ReceivedMessage(delivery))
                try reader.acknowledge(delivery)
            }
            return messages
        }
        var queueOfJob: [[UInt8]: String] = [:]
        var ids: [[UInt8]] = []
        for queue in ["apns.q.results", "apns.q.results.2", "apns.q.results.3"] {
            let messages = try take(queue)
            // Sixty jobs leave a queue of three empty less often than once in ten thousand million times.
            #expect(!messages.isEmpty, "\(queue) got nothing")
            for message in messages {
                let job = try #require(message.correlationID)
                #expect(queueOfJob[job] == nil || queueOfJob[job] == queue)
                queueOfJob[job] = queue
                ids.append(try #require(message.messageID))
                #expect(!message.headers.contains { $0.name == "BCC" })
            }
        }
        #expect(ids.count == 120 && Set(ids).count == 120)
        let team = try take("apns.q.results.team")
        #expect(team.count == 80)
        #expect(team.allSatisfy { String(decoding: $0.routingKey, as: UTF8.self).hasSuffix(".com.example.app") })
        #expect(try take("apns.q.results.unclaimed").isEmpty)
    }
}
