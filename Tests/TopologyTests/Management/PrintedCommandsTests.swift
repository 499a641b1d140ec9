import Glibc
import LocalStack
import PushModel
import Testing

@testable import Topology

/// Both versions of `rabbitmqadmin` do what the text of their commands promises.
@Suite("Printed commands, run", .timeLimit(.minutes(2)), .serialized)
struct PrintedCommandsTests {
    private let topology = BrokerTopology(
        routes: [TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop"], highLane: true)],
        tiers: [RetryTier(milliseconds: 2000)], virtualHost: "martlet/test 2")

    /// The directories of version 1, of the Python that it needs, and of `chroot`, with which version 2 may begin.
    private static let path = "/usr/bin:/bin:/usr/sbin"
    /// Version 2 comes with RabbitMQs that are newer than this machine; `make brokers` has one.
    private static let hasTwo = access("\(PrivateBroker.programs)/rabbitmqadmin", X_OK) == 0

    @Test("Version 1 mends every difference that the broker can have")
    func one() async throws {
        try await mend(path: Self.path) { $0.one($1) }
    }

    @Test(
        "Version 2 mends every difference that the broker can have",
        .enabled(if: hasTwo, "no rabbitmqadmin 2 here: make brokers has one"))
    func two() async throws {
        try await mend(path: "\(PrivateBroker.programs):\(Self.path)") { try #require($0.two($1)) }
    }

    /// Lets a broker differ in all ways that commands can mend, runs the command of each difference, and looks again.
    private func mend(path: String, _ line: (AdminCommands, [TopologyRemedy]) throws -> String) async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let raw = try ManagementConnection(address: broker.managementURI, timeout: 10)
        let host = topology.virtualHost
        _ = try await raw.send(.put, ["vhosts", host], body: "{}")
        _ = try await raw.send(
            .put, ["permissions", host, "guest"], body: #"{"configure":".*","write":".*","read":".*"}"#)
        let client = try ManagementClient(address: SecretText(broker.managementURI))
        _ = try await client.apply(topology)
        try await spoil(raw)

        let differences = try await client.check(topology)
        #expect(Set(differences.map { "\($0.kind.rawValue) \($0.object.split(separator: " ")[0])" }) == Self.kinds)
        let admin = AdminCommands(raw.location, virtualHost: host)
        for difference in differences {
            let command = try line(admin, difference.remedies)
            let end = try ChildProcess.run(
                "/bin/sh", ["-c", command], environment: ["RABBITMQADMIN_PASSWORD": "guest", "PATH": path],
                timeout: .seconds(50))
            #expect(end.status == 0, "\(command): \(end.text)\(end.errorText)")
        }
        #expect(try await client.check(topology) == [])
    }

    /// The ways in which the broker then differs.
    private static let kinds: Set<String> = [
        "missing exchange", "missing queue", "missing binding", "missing policy", "different policy", "stale binding",
        "stale policy",
    ]

    private func spoil(_ raw: ManagementConnection) async throws {
        let host = topology.virtualHost
        _ = try await raw.send(.delete, ["exchanges", host, "apns.dead"])
        _ = try await raw.send(.delete, ["queues", host, "apns.q.dead.tokens"])
        _ = try await raw.send(.delete, ["bindings", host, "e", "apns.results", "q", "apns.q.results", "%23"])
        _ = try await raw.send(.delete, ["policies", host, "apns.q.dead"])
        _ = try await raw.send(
            .put, ["policies", host, "apns.q.jobs.*"],
            body: #"{"pattern":"^apns\\.q\\.jobs","apply-to":"queues","priority":10,"definition":{"max-length":5}}"#)
        _ = try await raw.send(
            .put, ["policies", host, "apns.q.retry.7s"],
            body: #"{"pattern":"^apns\\.q\\.retry\\.7s$","apply-to":"queues","definition":{"max-length":5}}"#)
        for key in ["production.high.com.example.old", "#", "a b~c%é", ""] {
            _ = try await raw.send(
                .post, ["bindings", host, "e", "apns.jobs", "q", "apns.q.jobs.shop"],
                body: #"{"routing_key":"\#(key)","arguments":{}}"#)
        }
    }
}
