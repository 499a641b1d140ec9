import Foundation
import LocalStack
import RabbitMQ
import Testing

/// Shovels and federation of the broker under test, in its own virtual host.
@Suite("Jobs that the broker's plugins move", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct PluginWayTests {
    private static let other = "development.normal.com.other.app"
    private static let queue = "apns.q.jobs.other"

    /// A broker with both plugins, and the topology with an exchange `events` that is trusted.
    private func stack() async throws -> BrokerStack {
        let broker = try PrivateBroker.start(PrivateBrokerOptions())
        let apps = [
            BrokerStack.App(route: "app", topic: "com.example.app"),
            BrokerStack.App(route: "other", topic: "com.other.app"),
        ]
        let stack = try await BrokerStack.start(
            "plugins", apps: apps, ownBroker: broker, settings: "jobs: { from: [events] }")
        try broker.evaluate(
            "{ok, F} = application:get_env(rabbit, enabled_plugins_file), "
                + "ok = file:write_file(F, \"[rabbitmq_shovel,rabbitmq_federation].\"), rabbit_plugins:ensure(F).")
        let exchanges = ["events", "departments"].map { name -> [String: Any] in
            [
                "name": name, "vhost": "plugins", "type": "topic", "durable": true, "auto_delete": false,
                "internal": false,
            ]
        }
        let queues = ["far", "to.exchange", "to.queue"].map { name -> [String: Any] in
            [
                "name": name, "vhost": "plugins", "durable": true, "auto_delete": false,
                "arguments": ["x-queue-type": "quorum"],
            ]
        }
        let binding: [String: Any] = [
            "source": "events", "vhost": "plugins", "destination": "apns.jobs", "routing_key": "#",
            "destination_type": "exchange", "arguments": [String: Any](),
        ]
        let all = ["exchanges": exchanges, "queues": queues, "bindings": [binding]] as [String: Any]
        try broker.importDefinitions(json: [UInt8](try JSONSerialization.data(withJSONObject: all)))
        return stack
    }

    private func set(_ stack: BrokerStack, _ component: String, _ name: String, _ value: [String: Any]) throws {
        let json = String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
        try stack.broker.control(["set_parameter", "-p", stack.virtualHost, component, name, json])
    }

    private func job(_ key: String, exchange: String) -> TestJob {
        .raw(token: .text(Tokens.good)).keyed(key, exchange: exchange)
    }

    @Test(
        "Federated exchanges that are trusted, and shovels to apns.jobs, lead jobs; what is moved to a queue lost its key"
    )
    func moves() async throws {
        let stack = try await stack()
        let uri = stack.uri
        try set(stack, "federation-upstream", "exchanges", ["uri": uri, "exchange": "departments"])
        try set(stack, "federation-upstream", "queues", ["uri": uri, "queue": "far"])
        for (pattern, kind) in [("^events$", "exchanges"), ("^\(Self.queue)$", "queues")] {
            try stack.broker.control([
                "set_policy", "-p", stack.virtualHost, "--priority", "99", "--apply-to", kind, kind, pattern,
                #"{"federation-upstream":"\#(kind)"}"#,
            ])
        }
        let shovel = ["src-protocol": "amqp091", "dest-protocol": "amqp091", "src-uri": uri, "dest-uri": uri]
        try set(
            stack, "shovel", "exchange",
            shovel.merging(
                ["src-queue": "to.exchange", "dest-exchange": "apns.jobs", "dest-exchange-key": Self.other]) { $1 })
        try set(
            stack, "shovel", "queue", shovel.merging(["src-queue": "to.queue", "dest-queue": Self.queue]) { $1 })
        let worker = try stack.startWorker()
        let client = try JobClient(stack)
        defer { client.close() }
        // A job of an exchange without a queue comes back, until the link is there.
        let deadline = ContinuousClock.now.advanced(by: JobClient.patience)
        while (try? client.publish(job(Self.other, exchange: "departments"), as: "federated exchange")) == nil {
            guard ContinuousClock.now < deadline else { throw RingFailure("there is no link") }
            BrokerStack.pause()
        }
        try client.publish(job("to.exchange", exchange: ""), as: "shovel to exchange")
        for name in ["federated exchange", "shovel to exchange"] {
            #expect(try client.result(name).result.summary == "0 accepted - 1", "\(name)")
        }
        for (name, source) in [("shovel to queue", "to.queue"), ("federated queue", "far")] {
            try client.publish(job(source, exchange: ""), as: name)
            let (message, result) = try client.result(name)
            #expect(result.reason == "MissingTopic", "\(name): \(result)")
            #expect(result.detail?.contains("use martlet dead replay") == true, "\(result.detail ?? "-")")
            #expect(String(decoding: message.routingKey, as: UTF8.self) == "invalid.-.-")
        }
        try await worker.stop()
    }
}
