import Foundation
import LocalStack
import RabbitMQ
import Testing

/// The poison rules of workers rest on what RabbitMQ counts. RabbitMQ has no limit before 4.0, and then one of 20.
@Suite("How often a job may come back to its queue", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct DeliveryLimitTests {
    /// What the script found.
    private struct Report: Decodable {
        struct Way: Decodable {
            var deliveries: Int
            var reason: String?
        }
        var version: String
        var ways: [String: Way]
    }

    @Test("RabbitMQ dead-letters a job after the topology's 50 returns; from 4.3 on, never one that was nacked")
    func ways() async throws {
        let stack = try await BrokerStack.start("limit")
        let most = 60
        let question = """
            {"exchange": "apns.jobs", "key": "development.normal.com.example.app", "queue": "apns.q.jobs.app", \
            "dead": "apns.q.dead", "most": \(most)}
            """
        let text = try stack.python("returns.py", input: question, timeout: .seconds(120))
        let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        let version = report.version.split(separator: ".").compactMap { Int($0) }
        try #require(version.count >= 2, "\(report.version)")
        let isNackFree = (version[0], version[1]) >= (4, 3)
        for way in ["reject", "nack", "channel", "connection"] {
            let seen = try #require(report.ways[way])
            if way == "nack", isNackFree {
                #expect(seen.deliveries == most && seen.reason == nil, "\(report.version): \(text)")
            } else {
                #expect(seen.deliveries == 51 && seen.reason == "delivery_limit", "\(report.version), \(way): \(text)")
            }
        }
        #expect(try stack.leftovers() == [:])
    }

    @Test("A job that was given back is pushed, whatever count its producer wrote")
    func forgedCount() async throws {
        let stack = try await BrokerStack.start("forged")
        let client = try JobClient(stack)
        defer { client.close() }
        let token = String(decoding: Tokens.good, as: UTF8.self)
        try client.publish(.raw(token: .text(token), headers: [("x-delivery-count", .integer(30))]), as: "job")
        let headers = try stack.python("give_back.py", input: "apns.q.jobs.app")
        let worker = try stack.startWorker()
        let result = try client.result("job").result
        #expect(result.outcome == "accepted" && result.redelivered, "\(headers)")
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }
}
