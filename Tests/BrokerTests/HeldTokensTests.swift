import EventLoop
import LocalStack
import PushWorker
import RabbitMQ
import Rig
import Testing

@Suite("Dead tokens that may be alive", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct HeldTokensTests {
    /// A stack, its client, and which device tokens were used.
    private struct Run {
        let client: JobClient
        private var used = 0

        init(_ client: JobClient) { self.client = client }

        /// Publishes multicast jobs and reads their results.
        /// - Parameters:
        ///   - count: To how many device tokens; a hundred each job.
        ///   - isDead: Which of them APNs calls dead.
        /// - Returns: The actions of results with a dead token, in no order.
        mutating func push(_ count: Int, isDead: (Int) -> Bool) throws -> [String] {
            var jobs: [(TestJob, String)] = []
            for first in stride(from: 0, to: count, by: 100) {
                let tokens = (first..<min(first + 100, count)).map { number in
                    let digits = String(used + number, radix: 16)
                    let prefix = isDead(number) ? "dead041000" : "a1b2c3d4e5"
                    return #""\#(prefix)\#(String(repeating: "0", count: 54 - digits.count))\#(digits)""#
                }
                let body = #"{"device_tokens":[\#(tokens.joined(separator: ","))],"payload":{"aps":{"alert":"hi"}}}"#
                jobs.append((.enveloped(body), "wave"))
            }
            used += count
            try client.publish(jobs.map { (job: $0.0, correlation: $0.1) })
            let results = try (0..<count).map { _ in try client.result("wave").result }
            return results.filter { $0.outcome == "dead_token" }.map(\.action)
        }
    }

    @Test("Ten thousand dead tokens in a row are held, and dropped again once most of the others are alive")
    func wrongEnvironment() async throws {
        let stack = try await BrokerStack.start("held")
        let client = try JobClient(stack)
        defer { client.close() }
        var run = Run(client)
        let worker = try stack.startWorker()
        let dead = try run.push(10_000) { _ in true }
        #expect(dead.count == 10_000)
        #expect(dead.count { $0 == "drop_token" } < 2 * DeadTokenWatch.minimumAnswers)
        #expect(worker.worker.laneSnapshots().contains { $0.routes.first??.holdsTokens == true })

        // As many as outweigh what was under way, however many requests that were.
        _ = try run.push(6_000) { _ in false }
        let few = try run.push(100) { $0 % 10 == 0 }
        #expect(few.count == 10 && few.allSatisfy { $0 == "drop_token" })
        try await worker.stop()
    }

    @Test("An honest list with three dead tokens in ten is not held, and a restart changes nothing about that")
    func honest() async throws {
        let stack = try await BrokerStack.start("honest")
        for _ in 0..<2 {
            // A thread of the test's own is another one after each wait.
            let client = try JobClient(stack)
            defer { client.close() }
            var run = Run(client)
            let worker = try stack.startWorker()
            let dead = try run.push(1_000) { $0 % 10 < 3 }
            #expect(dead.count == 300 && dead.allSatisfy { $0 == "drop_token" })
            try await worker.stop()
        }
    }

    @Test("A worker started among dead tokens lets few of them pass, and the export holds those back")
    func restart() async throws {
        let stack = try await BrokerStack.start("held-again")
        for _ in 0..<2 {
            let client = try JobClient(stack)
            defer { client.close() }
            var run = Run(client)
            let worker = try stack.startWorker()
            let dead = try run.push(2_000) { _ in true }
            #expect(dead.count == 2_000)
            #expect(dead.count { $0 == "drop_token" } < 2 * DeadTokenWatch.minimumAnswers)
            try await worker.stop()
        }
        let counts = try await BlockingWork.run("martlet dead tokens") {
            try ChildProcess.run(
                try LocalRun.executable(), ["dead", "tokens", "-o", "json"],
                environment: ["MARTLET_BROKER_URI": "\(stack.broker.uri)\(stack.virtualHost)"], timeout: .seconds(60))
        }
        #expect(
            counts.text
                == #"{"environment":"development","topic":"com.example.app","dead_tokens":0,"held_tokens":2000}"#
                + "\n",
            "\(counts.errorText)")
    }
}
