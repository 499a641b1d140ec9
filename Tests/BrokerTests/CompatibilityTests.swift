import APNSSimulator
import Foundation
import LocalStack
import PushModel
import RabbitMQ
import Testing
import Text

/// A message as it was once seen on the wire, kept as a file.
private struct RecordedMessage: Decodable, Sendable {
    var routingKey: String
    var contentType: String
    var messageID: String
    /// The content of the header table, hexadecimal.
    var headers: String
    var body: String

    /// The message as a job to publish.
    var job: TestJob {
        var job = TestJob()
        job.routingKey = Array(routingKey.utf8)
        job.contentType = contentType
        job.messageID = Array(messageID.utf8)
        job.body = Array(body.utf8)
        return job
    }
}

@Suite("Copies of other versions and clients of other makers", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct CompatibilityTests {
    private static let stack = Task(executorPreference: ThreadExecutor()) {
        let stack = try await BrokerStack.start("compatibility", requestTimeout: "3s")
        return (stack: stack, worker: try stack.startWorker())
    }

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.stack.value.stack
    }

    private func replay(_ file: String, as correlation: String, with client: JobClient) throws -> RecordedMessage {
        let recorded: RecordedMessage = try Fixtures.json(file)
        // Copies count only where a worker could have published them.
        let job = recorded.job.with { $0.exchange = "apns.retry.2s" }
        try client.publish(job, wireHeaders: Hex.bytes(recorded.headers), as: correlation)
        return recorded
    }

    @Test("A recorded retry copy of a raw job goes on with its attempt")
    func rawCopy() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let recorded = try replay("retry-copy-raw.json", as: "raw copy", with: client)
        let (message, result) = try client.result("raw copy")
        #expect(result.outcome == "accepted")
        #expect(result.attempt == 2)
        #expect(message.number("x-apns-attempt") == 2)
        #expect(result.jobId == recorded.messageID)
        #expect(result.reference == "recorded")
        #expect(
            message.messageID == Self.resultID("\(recorded.messageID)/2/0"),
            "\(String(decoding: message.messageID ?? [], as: UTF8.self))")
    }

    @Test("A recorded retry copy of a multicast job is about its indexes only, and is exhausted by the age it carries")
    func multicastCopy() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let recorded = try replay("retry-copy-multicast.json", as: "multicast copy", with: client)
        var results: [JobResult] = []
        for _ in 0..<3 {
            let (message, result) = try client.result("multicast copy")
            #expect(message.messageID == Self.resultID("\(recorded.messageID)/3/\(result.index)"))
            results.append(result)
        }
        #expect(
            results.map(\.summary).sorted() == [
                "1 accepted - 3", "3 exhausted ServiceUnavailable 3", "4 accepted - 3",
            ])
        // The one that failed again is older than max_age: it dies with the time of its first attempt.
        let letter = try client.next("multicast copy", from: "apns.q.dead")
        #expect(letter.text("x-apns-indexes") == "3")
        #expect(letter.number("x-apns-first-attempt-at") == 1_763_700_000_000)
        #expect(letter.number("x-apns-attempt") == 3)
        #expect(letter.body == recorded.job.body)
        #expect(!letter.headers.contains { $0.name == "x-apns-v" })
        #expect(try stack.leftovers() == [:])
    }

    @Test("A notification without an answer comes back from the first tier as its second attempt")
    func tier() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let token = "fa111000" + String(repeating: "d", count: 56)
        try client.publish(.raw(token: .text(token)), as: "tier")
        let (_, result) = try client.result("tier")
        #expect(result.outcome == "accepted")
        #expect(result.attempt == 2)
        #expect(!result.redelivered)
        let pushes = stack.simulator.ledger.records(token: token)
        #expect(pushes.map(\.status) == [0, 200])
        #expect(Set(pushes.map(\.id.description)).count == 1, "every attempt has the same apns-id")
        let pause = try #require(pushes.last).time - (try #require(pushes.first).time)
        // Three seconds until the request is given up, two in the tier.
        #expect(pause >= 5_000)
        #expect(try stack.leftovers() == [:])
    }

    @Test(
        "Mixed outcomes of a multicast job: a result each, a retry copy per tier, a dead letter per outcome and reason")
    func mixedMulticast() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let short = try client.tap("apns.retry.2s")
        let long = try client.tap("apns.retry.4s")
        let tokens = [
            "a0", "dead0410", "dead0410", "dead1410", "bad01400", "zz", "fa111503", "fa111503", "fa111429", "fa111000",
            "a1",
        ].enumerated().map { position, prefix in
            // Different tokens with the same beginning.
            prefix + String(repeating: String(position, radix: 16), count: 64 - prefix.count)
        }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let job = TestJob.enveloped(#"{"device_tokens":[\#(list)],"payload":{"aps":{"alert":"x"}}}"#)
        try client.publish(job, as: "mixed")

        let results = try (0..<11).map { _ in try client.result("mixed").result }
        #expect(
            results.map(\.summary).sorted() == [
                "0 accepted - 1", "1 dead_token Unregistered 1", "10 accepted - 1", "2 dead_token Unregistered 1",
                "3 dead_token ExpiredToken 1", "4 rejected BadCollapseId 1", "5 invalid BadDeviceToken 1",
                "6 accepted - 2", "7 accepted - 2", "8 accepted - 2", "9 accepted - 2",
            ])
        #expect(Set(results.compactMap(\.apnsId)).count == 11)
        for result in results where result.index != 5 { #expect(result.deviceToken == tokens[result.index]) }

        let copies = [try client.next("mixed", from: short), try client.next("mixed", from: long)]
        #expect(copies.map { $0.text("x-apns-indexes") } == ["9", "6-8"])
        for copy in copies {
            #expect(copy.number("x-apns-v") == 1)
            #expect(copy.number("x-apns-attempt") == 2)
            #expect(copy.routingKey == job.routingKey)
            #expect(copy.body == job.body)
        }
        try checkLetters(client, job)
        try client.expectNothing(in: short)
        try client.expectNothing(in: long)
        #expect(try stack.leftovers() == [:])
    }

    private func checkLetters(_ client: JobClient, _ job: TestJob) throws {
        var letters: [String] = []
        for queue in ["apns.q.dead", "apns.q.dead", "apns.q.dead.tokens", "apns.q.dead.tokens"] {
            let letter = try client.next("mixed", from: queue)
            #expect(letter.body == job.body)
            letters.append("\(queue) \(letter.text("x-apns-reason") ?? "-") \(letter.text("x-apns-indexes") ?? "all")")
        }
        #expect(
            letters.sorted() == [
                "apns.q.dead BadCollapseId 4", "apns.q.dead BadDeviceToken 5", "apns.q.dead.tokens ExpiredToken 3",
                "apns.q.dead.tokens Unregistered 1-2",
            ])
        try client.expectNothing(in: "apns.q.dead")
        try client.expectNothing(in: "apns.q.dead.tokens")
    }

    /// What the Python script prints of a result or reply.
    private struct PythonResult: Decodable {
        var exchange: String
        var routingKey: String
        var type: String
        var correlationId: String
        var messageId: String
        var contentType: String
        var deliveryMode: Int
        var outcome: String
        var attempt: Int
        var result: JobResult
    }

    @Test("pika publishes jobs of every form with its own types, and reads results and replies")
    func pika() throws {
        let lines = try stack.python("roundtrip.py").split(separator: "\n")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let messages = try lines.map { try decoder.decode(PythonResult.self, from: Data($0.utf8)) }
        let exchanges = ["apns.results", "apns.replies"].flatMap { Array(repeating: $0, count: 4) }
        #expect(messages.map(\.exchange) == exchanges)
        for half in [messages.prefix(4), messages.suffix(4)] {
            #expect(
                half.map { "\($0.result.jobId) \($0.result.index) \($0.result.outcome)" }.sorted() == [
                    "pika-enveloped 0 accepted", "pika-multicast 0 accepted", "pika-multicast 1 dead_token",
                    "pika-raw 0 accepted",
                ])
            #expect(Set(half.map(\.messageId)).count == 4)
        }
        for message in messages {
            #expect(message.correlationId == "c-\(message.result.jobId)")
            #expect(message.outcome == message.result.outcome)
            #expect(message.type == "apns.result.v1")
            #expect(message.contentType == "application/json")
            #expect(message.deliveryMode == 2)
            #expect(message.attempt == 1)
            #expect(message.result.enqueuedAt ?? 0 > 1_763_700_000_000)
        }
        let client = try JobClient(stack)
        defer { client.close() }
        #expect(try client.next("c-pika-multicast", from: "apns.q.dead.tokens").text("x-apns-indexes") == "1")
        let raw = messages.first { $0.result.jobId == "pika-raw" }
        #expect(raw?.result.deviceToken == String(repeating: "0a", count: 32))
        #expect(messages.first { $0.result.jobId == "pika-enveloped" }?.result.reference == "ref")
    }

    /// The id the contract gives to a result.
    private static func resultID(_ name: String) -> [UInt8] {
        var text: [UInt8] = []
        let namespace = Array("268fde28-cb90-48d3-9071-c4bed60c6d28".utf8)
        guard let namespace = UUIDBytes.parse(namespace.span) else { return [] }
        UUIDBytes.v5(namespace: namespace, name: Array(name.utf8).span).append(to: &text)
        return text
    }
}
