import BrokerClient
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing
import WorkerSettings

@Suite("Header tables and replies through a broker", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct BadInputHeaderTests {
    private static let stack = Task(executorPreference: ThreadExecutor()) { try await BrokerStack.start("headers") }

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.stack.value
    }

    /// The same as `job`, with the token and further headers byte by byte.
    private func wireTable(token: [UInt8], _ more: [UInt8]) -> [UInt8] {
        WireTable.entry("apns-device-token", "S", WireTable.long(token)) + more
    }

    @Test("A header table of 131,000 bytes is answered when a killed consumer has had it before")
    func hugeTable() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        // Everything else is left out, so that the header frame still fits; the broker adds its count of deliveries
        // to the second delivery, which then does not fit any more.
        let job = TestJob.raw().with { $0.contentType = nil }
        try client.publish(job, wireHeaders: WireTable.wide(131_000), as: "huge")
        let victim = try stack.connect()
        let delivery = try #require(try victim.get(queue: "apns.q.jobs.app"))
        #expect(!delivery.redelivered)
        victim.close()

        let worker = try stack.startWorker()
        try client.publishGoodJob(as: "good after huge")
        let (_, result) = try client.result("huge")
        #expect(result.reason == Reason.badHeaders.rawValue)
        #expect(result.redelivered)
        // How many bytes the broker adds differs from version to version.
        #expect(result.detail?.contains(/131\d{3} bytes/) == true, "\(result.detail ?? "")")
        let letter = try client.next("huge", from: "apns.q.dead")
        #expect(letter.body == job.body)
        #expect(!letter.headers.contains { $0.name == "filler" })
        #expect(try client.result("good after huge").result.outcome == "accepted")
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("A job that needs a copy which no frame can carry is given up with a result, and nothing else is")
    func smallFrames() async throws {
        var configuration = stack.configuration
        configuration.broker.uris = configuration.broker.uris.map { SecretText("\($0.revealed)?frame_max=8192") }
        let worker = try LiveWorker(configuration)
        let client = try JobClient(stack)
        defer { client.close() }
        let unwilling = Array("fa111503".utf8) + Array(repeating: UInt8(ascii: "c"), count: 56)
        for (name, length) in [("too long", 8_100), ("short", 100)] {
            let filler = WireTable.entry("filler", "S", WireTable.long(Array(repeating: 120, count: length)))
            try client.publish(.raw(), wireHeaders: wireTable(token: unwilling, filler), as: name)
        }
        let (_, result) = try client.result("too long")
        #expect(result.outcome == "exhausted" && result.reason == Reason.badHeaders.rawValue)
        #expect(result.detail?.contains("frame_max") == true && result.attempt == 1)
        #expect(try client.next("too long", from: "apns.q.dead").text("x-apns-outcome") == "exhausted")
        #expect(try client.result("short").result.outcome == "accepted")
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("Headers of every kind cost a good job nothing, and a dead letter keeps them byte for byte")
    func everyKind() async throws {
        let worker = try stack.startWorker()
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publish(
            .raw(), wireHeaders: wireTable(token: Tokens.good, WireTable.everyKind), as: "every kind")
        #expect(try client.result("every kind").result.outcome == "accepted")

        let refused = Array("bad00400".utf8) + Array(repeating: UInt8(ascii: "c"), count: 56)
        try client.publish(.raw(), wireHeaders: wireTable(token: refused, WireTable.everyKind), as: "kinds refused")
        #expect(try client.result("kinds refused").result.reason == "BadDeviceToken")
        let letter = try client.next("kinds refused", from: "apns.q.dead.tokens")
        let sent = try Self.headers(WireTable.everyKind)
        // Which order headers have is the broker's choice: RabbitMQ 4 sorts them.
        let kept = sent.compactMap { header in letter.headers.first { $0.name == header.name } }
        #expect(kept.map(\.kind).map(String.init).joined() == "tbBsuIilfdDSxTVFA")
        #expect(kept == sent)
        #expect(letter.number("x-apns-status") == 400)
        try await worker.stop()
    }

    /// The entries of a table in wire form.
    private static func headers(_ table: [UInt8]) throws -> [WireHeader] {
        var headers: [WireHeader] = []
        var reader = FieldTableReader(table.indices)
        while let field = try reader.next(in: table) {
            headers.append(
                WireHeader(
                    name: String(decoding: table[field.name], as: UTF8.self),
                    kind: Character(Unicode.Scalar(field.kind)), value: try FieldValue(field, in: table)))
        }
        return headers
    }

    @Test("A reply goes to an allowed address; elsewhere it is said to be lost, and nothing else is")
    func replies() async throws {
        let worker = try stack.startWorker()
        let client = try JobClient(stack)
        defer { client.close() }
        let address = "apns.q.reply.guest.ring"
        let queue = try client.tap("apns.replies", key: address, name: address)
        func job(_ address: String) -> TestJob { .raw(token: .text(Tokens.good)).with { $0.replyTo = address } }
        try client.publish(job(address), as: "answered")
        try client.publish(job("amq.gen-of-someone-else"), as: "refused")
        try client.publish(job("apns.q.reply.guest.gone"), as: "nowhere")
        try client.publish(job("amq.rabbitmq.reply-to.g1h2AAZy"), as: "direct")
        let plain = try client.tap("apns.replies", key: "another", name: "apns.q.reply.guest.plain")
        try client.publish(job(plain), as: "to a queue")

        let answered = try client.result("answered")
        let reply = try client.next("answered", from: queue)
        #expect(answered.result.outcome == "accepted")
        #expect(answered.result.detail == nil)
        #expect(reply.exchange == "apns.replies")
        #expect(reply.body == answered.message.body)
        #expect(reply.messageID == answered.message.messageID)
        let straight = try client.next("to a queue", from: plain)
        #expect(try straight.body == client.result("to a queue").message.body)
        #expect(straight.exchange == "")
        for (name, word) in [
            ("refused", "replies.allow"), ("nowhere", "routes nowhere; declare a queue of that name, or bind"),
            ("direct", "direct reply-to is not supported"),
        ] {
            let result = try client.result(name).result
            #expect(result.outcome == "accepted")
            #expect(result.detail?.contains(word) == true, "\(name): \(result.detail ?? "no detail")")
            #expect(result.detail?.contains("reply") == true)
        }
        try client.expectNothing(in: queue)
        try client.expectNothing(in: "apns.q.dead")
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }
}
