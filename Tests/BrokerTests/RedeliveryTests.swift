import APNSSimulator
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing

@Suite("Connections to the broker that break", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RedeliveryTests {
    /// Kinds of devices; most pushes are under way when the broker's connections break.
    private enum Device: String, CaseIterable {
        case slow = "5107510000"
        case gone = "dead041000"
        case silent = "0ff0000000"

        var outcome: String {
            switch self {
            case .slow: "accepted"
            case .gone: "dead_token"
            case .silent: "unknown"
            }
        }

        func token(_ number: Int) -> String {
            let digits = String(number, radix: 16)
            return rawValue + String(repeating: "0", count: 54 - digits.count) + digits
        }
    }

    private static let perDevice = 60
    /// The slow devices answer after the broker delivered their jobs again, which a worker that was thrown out may put
    /// off by two waits of four seconds.
    private static let late = Scenario(
        rules: [
            Scenario.Rule(
                tokenPrefix: Device.slow.rawValue, sequence: VerdictSequence(Verdict(.accept, delay: 15_000)))
        ])

    /// Pushes one job after the other until each lane had one, whose answer opens all streams of its connection.
    ///
    /// - Returns: How many jobs that took.
    private func warm(_ worker: LiveWorker, _ stack: BrokerStack, _ client: JobClient) throws -> Int {
        var count = 0
        while (worker.worker.snapshot().routes.first??.requests ?? 0) == 0 || count == 0 {
            guard count < 100 else { throw RingFailure("the worker gets no job") }
            try client.publish([(.raw(token: .text(Tokens.good)), "first \(count)")])
            count += 1
            try stack.awaitPushes(count)
        }
        return count
    }

    @Test(
        "A worker that loses its channels in the middle of its work pushes nothing twice, and reports everything")
    func blip() async throws {
        let stack = try await BrokerStack.start("blip", scenario: Self.late)
        let publishing = try JobClient(stack)
        let worker = try stack.startWorker()
        let first = try warm(worker, stack, publishing)
        var jobs: [(job: TestJob, correlation: String)] = []
        for number in 0..<Self.perDevice {
            for device in Device.allCases {
                let job = TestJob.raw(
                    token: .text(device.token(number)), headers: [("x-apns-on-unknown", .text(Array("report".utf8)))])
                jobs.append((job, "\(device) \(number)"))
            }
        }
        let tokens = Device.allCases.map { "\"\($0.token(1_000))\"" }.joined(separator: ",")
        let payload = #"{"aps":{"alert":"SECRET"}}"#
        jobs.append(
            (
                .enveloped(
                    #"{"id":"many","device_tokens":[\#(tokens)],"payload":\#(payload),"on_unknown":"report"}"#
                ).with { $0.messageID = Array("many".utf8) }, "many"
            ))
        try publishing.publish(jobs)
        publishing.close()
        let pushes = first + jobs.count - 1 + Device.allCases.count
        try stack.awaitPushes(pushes)
        // Every connection of the virtual host: what is unacknowledged goes back to the queue.
        try stack.broker.control(["close_all_connections", "--vhost", stack.virtualHost, "a blip"])

        let client = try JobClient(stack)
        defer { client.close() }
        for number in 0..<first { #expect(try client.result("first \(number)").result.outcome == "accepted") }
        var marked = 0
        for number in 0..<Self.perDevice {
            for device in Device.allCases {
                let (message, result) = try client.result("\(device) \(number)")
                #expect(result.outcome == device.outcome, "\(device)")
                #expect(result.duplicate == message.text("x-apns-duplicate"))
                if result.duplicate == "suppressed" { marked += 1 }
            }
        }
        #expect(marked > 0, "a result that stands for a redelivery says so")
        let outcomes = try (0..<Device.allCases.count).map { _ in try client.result("many").result }
        #expect(outcomes.map(\.outcome).sorted() == ["accepted", "dead_token", "unknown"])
        #expect(try stack.leftovers() == [:])
        #expect(stack.simulator.ledger.records().count == pushes, "no push was made twice")
        for number in 0..<Self.perDevice {
            _ = try client.next("\(Device.silent) \(number)", from: "apns.q.dead")
            _ = try client.next("\(Device.gone) \(number)", from: "apns.q.dead.tokens")
        }
        for queue in ["apns.q.dead", "apns.q.dead.tokens"] { _ = try client.next("many", from: queue) }
        for queue in ["apns.q.results", "apns.q.dead", "apns.q.dead.tokens"] { try client.expectNothing(in: queue) }
        #expect((worker.worker.snapshot().routes.first??.duplicatesSuppressed ?? 0) > 0)
        try await worker.stop()
    }
}
