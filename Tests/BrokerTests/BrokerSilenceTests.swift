import BrokerClient
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Synchronization
import Testing
import Topology
import WorkerSettings

@testable import MartletCommands

@Suite("What a broker does not tell, lacks, or has of others", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct BrokerSilenceTests {
    /// A broker whose statistics are on, started with the first test that asks for it.
    private static let broker = Result<PrivateBroker, any Error> {
        try PrivateBroker.start(PrivateBrokerOptions(management: true))
    }

    /// Runs `martlet status` once.
    private func status(_ stack: BrokerStack) throws -> (json: JSON, status: Int32) {
        let options = ["--broker", stack.uri, "--management", stack.broker.managementURI, "-o", "json"]
        let outcome = try ChildProcess.run(
            try LocalRun.executable(), ["status"] + options, environment: [:], timeout: .seconds(50))
        return (try JSON(reading: outcome.output), outcome.status)
    }

    private func findings(_ json: JSON) -> [String] {
        (json["findings"]?.elements ?? []).map { "\($0["object"]?.text ?? ""): \($0["detail"]?.text ?? "")" }
    }

    /// Asks for the status until the broker has told the settings in effect of all queues with a length.
    ///
    /// - Returns: What was found meanwhile beside that there is no worker.
    private func findingsUntilTold(_ stack: BrokerStack) throws -> Set<String> {
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        var found: Set<String> = []
        while true {
            let json = try status(stack).json
            found.formUnion(findings(json).filter { !$0.hasPrefix("workers: no worker takes jobs") })
            let limited = json["queues"]?.elements.filter { $0["name"]?.text == "apns.q.jobs.app" } ?? []
            if limited.contains(where: { $0["limit_bytes"]?.integer != nil && $0["ready"]?.integer != nil }) {
                return found
            }
            guard ContinuousClock.now < deadline else { throw RingFailure("\(json)") }
        }
    }

    @Test("Statistics that are off are unknown, and no reason for an alarm")
    func statisticsOff() async throws {
        let broker = try PrivateBroker.start(
            PrivateBrokerOptions(
                management: true,
                configuration: [
                    "management.disable_stats = true", "management_agent.disable_metrics_collector = true",
                ]))
        let stack = try await BrokerStack.start("silent", ownBroker: broker)
        let client = try stack.connect()
        defer { client.close() }
        var message = OutgoingMessage()
        message.setExchange("apns.retry.2s")
        #expect(try client.publishConfirmed(message) == .confirmed)
        let (json, status) = try status(stack)
        #expect(findings(json) == [] && status == 0)
        let queues = json["queues"]?.elements ?? []
        #expect(queues.count > 10 && queues.allSatisfy { $0["ready"]?.integer == nil && $0["bytes"]?.integer == nil })
        let management = try ManagementClient(address: SecretText(broker.managementURI))
        #expect(try await management.check(stack.configuration.topology(virtualHost: "silent")) == [])
    }

    @Test("There is no alarm in the first seconds of the queues, nor in those of the node")
    func firstSeconds() async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let stack = try await BrokerStack.start("young", ownBroker: broker)
        let first = try findingsUntilTold(stack)
        #expect(first == [], "\(first)")
        try broker.restart()
        let second = try findingsUntilTold(stack)
        #expect(second == [], "\(second)")
    }

    @Test("Queues that somebody deleted are for a person")
    func missing() async throws {
        let broker = try Self.broker.get()
        let stack = try await BrokerStack.start("lacking", ownBroker: broker)
        let client = try stack.connect()
        defer { client.close() }
        for queue in ["apns.q.results", "apns.q.dead", "apns.q.retry.2s"] { try client.delete(queue: queue) }
        let (json, status) = try status(stack)
        #expect(status == 1)
        #expect(
            findings(json).first?.hasPrefix("queues apns.q.dead, apns.q.results, apns.q.retry.2s: missing") == true,
            "\(findings(json))")
    }

    @Test("A producer's exchange and dead letters that lead in are named, and trusted exchanges are not")
    func foreignWays() async throws {
        let broker = try Self.broker.get()
        let stack = try await BrokerStack.start("entered", ownBroker: broker)
        let objects = """
            { "exchanges": [
                { "vhost": "entered", "name": "apns.q.reply.guest.e", "type": "fanout", "durable": true,
                  "auto_delete": false, "internal": false, "arguments": {} },
                { "vhost": "entered", "name": "events", "type": "topic", "durable": true,
                  "auto_delete": false, "internal": false, "arguments": { "alternate-exchange": "apns.jobs" } } ],
              "queues": [
                { "vhost": "entered", "name": "apns.q.reply.guest.d", "durable": true, "auto_delete": false,
                  "arguments": { "x-dead-letter-exchange": "apns.jobs" } } ],
              "bindings": [
                { "vhost": "entered", "source": "apns.q.reply.guest.e", "destination": "apns.jobs",
                  "destination_type": "exchange", "routing_key": "#", "arguments": {} } ] }
            """
        try BrokerStack.importing.withLock { _ in try broker.importDefinitions(json: Array(objects.utf8)) }
        let management = try ManagementClient(address: SecretText(broker.managementURI))
        var topology = stack.configuration.topology(virtualHost: "entered")
        let rows = try await management.check(topology)
        #expect(
            rows.map(\.object) == ["exchange apns.q.reply.guest.e", "exchange events", "queue apns.q.reply.guest.d"])
        #expect(rows.map(\.exchange) == [nil, "events", nil])
        topology.trustedExchanges = ["events"]
        #expect(try await management.check(topology).map(\.object) == [rows[0].object, rows[2].object])
        #expect(try await management.apply(topology).remaining.count == 2)
        let found = findings(try status(stack).json)
        #expect(found.contains { $0.hasPrefix("exchange apns.q.reply.guest.e: bound to apns.jobs") }, "\(found)")
    }

    @Test("An operator policy is named with what it breaks, remains after apply, and ends with the printed command")
    func operatorPolicy() async throws {
        let broker = try Self.broker.get()
        let stack = try await BrokerStack.start("ruled", ownBroker: broker)
        try broker.control(
            ["set_operator_policy", "-p", "ruled", "ops", "^apns", #"{"message-ttl":3600000}"#, "--apply-to", "queues"])
        let management = try ManagementClient(address: SecretText(broker.managementURI))
        let topology = stack.configuration.topology(virtualHost: "ruled")
        let applied = try await management.apply(topology)
        #expect(applied.mended == [] && applied.remaining.map(\.object) == ["operator policy ops"])
        #expect(applied.remaining.first?.detail.contains("message-ttl 3600000, so that jobs expire") == true)
        let (json, status) = try status(stack)
        #expect(status == 1 && findings(json).contains { $0.hasPrefix("operator policy ops: it sets on") })

        let admin = AdminCommands(management.location, virtualHost: "ruled")
        let command = admin.one(applied.remaining.flatMap(\.remedies)).split(separator: " ").map(String.init)
        #expect(command.first == "rabbitmqctl")
        try broker.control(Array(command.dropFirst()))
        #expect(try await management.check(topology) == [])
    }
}
