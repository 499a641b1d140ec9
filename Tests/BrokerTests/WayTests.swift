import APNSSimulator
import Foundation
import LocalStack
import RabbitMQ
import Synchronization
import Testing

@Suite("The ways by which jobs come", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct WayTests {
    private static let virtualHost = "ways"
    private static let shared = Task(executorPreference: ThreadExecutor()) {
        let apps = [
            BrokerStack.App(route: "app", topic: "com.example.app"),
            BrokerStack.App(route: "other", topic: "com.other.app"),
        ]
        let stack = try await BrokerStack.start(virtualHost, apps: apps, settings: "jobs: { from: [events] }")
        try BrokerStack.importing.withLock { _ in try stack.broker.importDefinitions(json: definitions()) }
        return (stack: stack, worker: try stack.startWorker())
    }

    /// What producers and operators may add to the topology.
    private static func definitions() throws -> [UInt8] {
        func exchange(_ name: String, _ type: String) -> [String: Any] {
            [
                "name": name, "vhost": virtualHost, "type": type, "durable": true, "auto_delete": false,
                "internal": false, "arguments": [String: Any](),
            ]
        }
        func binding(_ source: String, _ destination: String, _ key: String, isToQueue: Bool = false) -> [String: Any] {
            [
                "source": source, "vhost": virtualHost, "destination": destination, "routing_key": key,
                "destination_type": isToQueue ? "queue" : "exchange", "arguments": [String: Any](),
            ]
        }
        let deadLettering: [String: Any] = [
            "x-dead-letter-exchange": "apns.jobs", "x-dead-letter-routing-key": other, "x-message-ttl": 0,
        ]
        let all: [String: Any] = [
            "exchanges": [exchange(own, "fanout"), exchange("events", "topic"), exchange("departments", "topic")],
            "queues": [
                [
                    "name": dying, "vhost": virtualHost, "durable": true, "auto_delete": false,
                    "arguments": deadLettering,
                ]
            ],
            "bindings": [
                binding(own, "apns.jobs", ""), binding("events", "apns.jobs", "#"),
                binding("departments", "events", "#"),
                // As while the topic moves: bound behind the alternate exchange only.
                binding("apns.jobs.moving", "apns.q.jobs.app", moving, isToQueue: true),
                binding("apns.return.moving", "apns.q.jobs.app.return", moving, isToQueue: true),
            ],
        ]
        return [UInt8](try JSONSerialization.data(withJSONObject: all))
    }

    private static let own = "apns.q.reply.shop.e"
    private static let dying = "apns.q.reply.shop.dlx"
    private static let other = "development.normal.com.other.app"
    private static let moving = "development.normal.com.example.moving"

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.shared.value.stack
    }

    private static func job(_ key: String, exchange: String = "apns.jobs", headers: [(String, FieldValue)] = [])
        -> TestJob
    {
        .raw(token: .text(Tokens.good), headers: headers).keyed(key, exchange: exchange)
    }

    /// A header that a producer wrote, as if one of our queues had dead-lettered the job. The queue is no job queue: RabbitMQ drops cycles.
    private static let forgedDeath = FieldValue.array([
        .table(
            FieldTable(entries: [
                .init(name: Array("queue".utf8), value: .text("apns.q.retry.2s")),
                .init(name: Array("reason".utf8), value: .text("expired")),
                .init(name: Array("count".utf8), value: .integer(1)),
            ]))
    ])

    @Test("A producer reaches no other app by an exchange or a queue of its own")
    func strangers() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let death = [("x-death", Self.forgedDeath)]
        let ways: [(String, TestJob, String)] = [
            ("own exchange", Self.job(Self.other, exchange: Self.own), "the exchange \(Self.own)"),
            ("own queue", Self.job(Self.dying, exchange: ""), "the queue \(Self.dying)"),
            ("own queue, forged", Self.job(Self.dying, exchange: "", headers: death), "the queue \(Self.dying)"),
            // The first exchange counts, and nobody named it.
            ("before a trusted one", Self.job(Self.other, exchange: "departments"), "the exchange departments"),
        ]
        for (name, job, words) in ways {
            // A device token that nobody else's jobs have.
            let own = job.with { $0.headers[0].value = .text(String(decoding: Tokens.bad, as: UTF8.self)) }
            try client.publish(own, as: name)
            let (message, result) = try client.result(name)
            #expect(result.summary == "0 invalid UntrustedSource 1", "\(name)")
            #expect(result.detail?.contains(words) == true, "\(result.detail ?? "-")")
            #expect(String(decoding: message.routingKey, as: UTF8.self) == "invalid.-.-")
            #expect(result.topic == nil && result.environment == nil)
            let letter = try client.next(name, from: "apns.q.dead")
            #expect(String(decoding: letter.routingKey, as: UTF8.self) == "invalid.-.-")
        }
        #expect(stack.simulator.ledger.records(token: String(decoding: Tokens.bad, as: UTF8.self)).isEmpty)
    }

    @Test("An exchange that the operator trusts leads jobs of every app, and what is published counts without its past")
    func trusted() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let forged: [(String, FieldValue)] = [
            ("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(9)), ("x-apns-duplicate", .text("possible")),
        ]
        for (name, job) in [
            ("by events", Self.job(Self.other, exchange: "events", headers: forged)),
            ("published", Self.job(Self.other, headers: forged)),
            ("published with a death of ours", Self.job(Self.other, headers: [("x-death", Self.forgedDeath)])),
        ] {
            try client.publish(job, as: name)
            let result = try client.result(name).result
            #expect(result.summary == "0 accepted - 1" && !result.redelivered, "\(name): \(result)")
        }
    }

    @Test("A job that is moved by hand is taken if it names its app, and its letter keeps the first key")
    func moved() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let queue = "apns.q.jobs.other"
        let topic = #""topic":"com.other.app","environment":"development","payload":{}"#
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let whole = TestJob.enveloped(#"{"device_token":"\#(token)",\#(topic)}"#).keyed(queue, exchange: "")
        try client.publish(whole, as: "whole")
        #expect(try client.result("whole").result.summary == "0 accepted - 1")
        for (first, kept) in [(Self.other, Self.other), ("development.normal.com.example.app", queue)] {
            let headers = [("x-apns-original-routing-key", FieldValue.text(first))]
            try client.publish(Self.job(queue, exchange: "", headers: headers), as: first)
            let result = try client.result(first).result
            #expect(result.reason == "MissingTopic")
            #expect(result.detail?.contains("use martlet dead replay") == true, "\(result.detail ?? "-")")
            #expect(try client.next(first, from: "apns.q.dead").text("x-apns-original-routing-key") == kept)
        }
    }

    @Test("While a topic moves, what producers publish gains nothing, and copies stay copies")
    func movingTopic() throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let headers: [(String, FieldValue)] = [("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(3))]
        for (exchange, attempt) in [("apns.jobs", 1), ("apns.retry.2s", 3)] {
            try client.publish(Self.job(Self.moving, exchange: exchange, headers: headers), as: exchange)
            let (message, result) = try client.result(exchange)
            #expect(result.summary == "0 invalid RoutingMismatch \(attempt)", "\(exchange)")
            #expect(String(decoding: message.routingKey, as: UTF8.self) == "invalid.-.-")
        }
    }
}
