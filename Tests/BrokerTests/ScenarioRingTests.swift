import APNSSimulator
import Foundation
import LocalStack
import PushModel
import RabbitMQ
import Testing
import Text

@Suite("Every scenario, met by a worker", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct ScenarioRingTests {
    /// What a scenario of `config/scenarios` may lead to.
    struct Expectation: Sendable, CustomTestStringConvertible {
        /// The file's name.
        var name: String
        /// The outcomes that jobs to good devices may have; each must occur.
        var outcomes: Set<String> = ["accepted"]
        /// Whether an accepted push can lose its answer, so that it is sent again.
        var losesAnswers = false
        /// How attempts compare with the pushes in the ledger of APNs.
        var attempts = Attempts.all
        /// Milliseconds by which the simulator's clock is put forward first.
        var advance: Int64 = 0

        var testDescription: String { name }
    }

    /// How a job's attempts compare with its pushes in the ledger of APNs.
    enum Attempts {
        /// Every push is an attempt, and every attempt was seen.
        case all
        /// Some pushes were refused unread, which costs no attempt.
        case some
        /// Some attempts fell on deaf ears.
        case unseen
    }

    static let expectations = [
        Expectation(name: "bad-address"), Expectation(name: "certificate-trouble"),
        Expectation(name: "everyday", outcomes: ["accepted", "dead_token"]), Expectation(name: "far-away"),
        Expectation(name: "gateway"),
        Expectation(name: "goaway-storm", attempts: .some),
        Expectation(name: "half-open", losesAnswers: true, attempts: .unseen),
        Expectation(name: "lost-answers", losesAnswers: true),
        // In the worst of its minutes.
        Expectation(name: "outage", outcomes: ["accepted", "exhausted"], advance: 11 * 60_000),
        Expectation(name: "storm", losesAnswers: true, attempts: .some), Expectation(name: "strict"),
    ]

    private static let jobs = 400
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("config/scenarios")

    @Test("There is an expectation for each scenario, and no other")
    func complete() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        let scenarios = files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(".yaml".count)) }
        #expect(Set(scenarios) == Set(Self.expectations.map(\.name)))
    }

    @Test(
        "Each job ends once, with an outcome that fits, as often attempted as the ledger of APNs says, and none is lost",
        arguments: expectations)
    func scenario(_ expectation: Expectation) async throws {
        let file = Self.directory.appendingPathComponent("\(expectation.name).yaml").path
        // Only where answers are missing does anything wait for the timeout; elsewhere a slow machine must not reach
        // it.
        let stack = try await BrokerStack.start(
            "scenario-\(expectation.name)", requestTimeout: expectation.losesAnswers ? "1s" : "20s",
            scenario: try Scenario(file: file))
        #expect(stack.simulator.control.advanceClock(milliseconds: expectation.advance))
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publish(
            (0..<Self.jobs).map { number in
                let digits = String(number, radix: 16)
                let token = "1" + String(repeating: "7", count: 63 - digits.count) + digits
                return (job: TestJob.raw(token: .text(token)), correlation: "job \(number)")
            })
        let worker = try stack.startWorker()
        let results = try (0..<Self.jobs).map { try client.result("job \($0)").result }
        #expect(Set(results.map(\.outcome)) == expectation.outcomes)

        let records = Dictionary(grouping: stack.simulator.ledger.records()) { $0.id.description }
        for result in results {
            let pushes = records[result.apnsId ?? ""] ?? []
            let accepted = pushes.filter { $0.status == 200 }.count
            switch result.outcome {
            case "accepted":
                #expect(expectation.losesAnswers ? accepted >= 1 : accepted == 1, "\(result.jobId)")
            default: #expect(accepted == 0, "\(result.jobId) is \(result.outcome), and was accepted")
            }
            switch expectation.attempts {
            case .all: #expect(result.attempt == pushes.count, "\(result.jobId): \(pushes.map(\.label))")
            case .some: #expect(result.attempt <= pushes.count, "\(result.jobId): \(pushes.map(\.label))")
            case .unseen: #expect(!pushes.isEmpty)
            }
        }
        #expect(try stack.leftovers() == [:])
        let refused = results.filter { $0.outcome == "exhausted" }.count
        let dead = results.filter { $0.outcome == "dead_token" }.count
        let counts = try stack.broker.queueCounts(virtualHost: stack.virtualHost)
        #expect(counts["apns.q.dead"]?.total == refused)
        #expect(counts["apns.q.dead.tokens"]?.total == dead)
        try client.expectNothing(in: "apns.q.results")
        try await worker.stop()
    }
}
