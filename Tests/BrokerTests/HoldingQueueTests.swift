import APNSSimulator
import BrokerClient
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Rig
import Testing

@Suite("Queues in which jobs wait for their time", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct HoldingQueueTests {
    private static let day: Int64 = 86_400_000

    private static func job(_ token: String, notBefore time: Int64) -> TestJob {
        .enveloped(#"{"device_token":"\#(token)","not_before":\#(time),"payload":{"aps":{"alert":"SECRET"}}}"#)
    }

    /// Lets a queue refuse what else comes.
    private func fill(_ stack: BrokerStack, _ client: JobClient, _ tier: String, notBefore time: Int64) throws {
        try stack.broker.control([
            "set_policy", "-p", stack.virtualHost, "--priority", "20", "--apply-to", "queues", "small",
            #"^apns\.q\.retry\.hold\.6h$"#,
            #"{"message-ttl":21600000,"dead-letter-exchange":"apns.return","dead-letter-strategy":"at-least-once","#
                + #""overflow":"reject-publish","max-length":1}"#,
        ])
        let filling = Self.job(String(decoding: Tokens.good, as: UTF8.self), notBefore: time)
            .keyed("development.normal.com.example.app", exchange: "apns.retry.\(tier)")
        for number in 0..<100 {
            do { try client.publish(filling, as: "filling \(number)") } catch { return }
        }
        throw RingFailure("\(tier) refuses nothing")
    }

    @Test("Where one is full, a job that was to wait there ends alone; its route's other jobs, and retries, go on")
    func full() async throws {
        let stack = try await BrokerStack.start(
            "holding-full",
            apps: [
                BrokerStack.App(route: "app", topic: "com.example.app"),
                BrokerStack.App(route: "other", topic: "com.example.other"),
            ], tiers: [1_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let time = JobIdentifier.now() + Self.day
        try fill(stack, client, "hold.6h", notBefore: time)
        let worker = try stack.startWorker()
        let token = String(repeating: "c", count: 64)
        try client.publish((0..<100).map { (Self.job(token, notBefore: time), "parked \($0)") })
        let retried = "fa111503" + String(repeating: "c", count: 56)
        try client.publish(.raw(token: .text(Array(retried.utf8))), as: "retried")
        let soon = Self.job(String(repeating: "d", count: 64), notBefore: JobIdentifier.now() + 3_000)
        try client.publish(soon, as: "soon")
        for topic in ["app", "other"] { try client.publishGoodJob(as: topic, topic: "com.example.\(topic)") }

        for number in 0..<100 {
            let result = try client.result("parked \(number)").result
            #expect(result.outcome == "exhausted" && result.reason == "HeldFull" && result.action == "replay")
            #expect(result.attempt == 1 && result.detail?.contains("apns.q.retry.hold.6h") == true, "\(result)")
        }
        let letter = try client.next("parked 99", from: "apns.q.dead")
        #expect(letter.text("x-apns-reason") == "HeldFull" && letter.text("x-apns-action") == "replay")
        let again = try client.result("retried").result
        #expect(again.outcome == "accepted" && again.attempt == 2, "\(again)")
        #expect(try client.result("soon").result.outcome == "accepted")
        for topic in ["app", "other"] { #expect(try client.result(topic).result.outcome == "accepted") }
        #expect(stack.simulator.ledger.records(token: token).isEmpty)
        #expect(try stack.route("app", of: worker) { $0.state == "ready" }.reason == nil)
        try await worker.stop()
    }

    @Test("What an earlier version let wait in a retry tier comes back from there, and not before its time")
    func earlier() async throws {
        let stack = try await BrokerStack.start("holding-earlier", tiers: [2_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let time = JobIdentifier.now() + 6_000
        let headers: [(String, FieldValue)] = [
            ("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(1)), ("x-apns-not-before", .integer(time)),
        ]
        let token = String(repeating: "e", count: 64)
        let copy = TestJob.raw(token: .text(Array(token.utf8)), headers: headers)
            .keyed("development.normal.com.example.app", exchange: "apns.retry.2s")
        try client.publish(copy, as: "early")
        #expect(try client.result("early").result.outcome == "accepted")
        #expect(stack.simulator.ledger.records(token: token).map { $0.time >= time } == [true])
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }
}
