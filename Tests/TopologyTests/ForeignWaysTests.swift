import Testing

@testable import Topology

@Suite("Ways of others into the contract", .timeLimit(.minutes(1)))
struct ForeignWaysTests {
    /// What somebody else made, and the rows that name it.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rows: [String]
        var trusted: Set<String> = []
        var make: @Sendable (inout LiveTopology) -> Void
    }

    private static func bind(
        _ source: String, _ destination: String, _ key: String = "", toQueue: Bool = false
    ) -> LiveTopology.Binding {
        .init(
            source: source, destination: destination, isToQueue: toQueue, routingKey: key,
            propertiesKey: key.isEmpty ? "~" : key)
    }

    private static let refused = "workers refuse jobs that come this way"
    private static let unless = ", unless jobs.from names the exchange"
    private static let letters =
        ": workers refuse such jobs. To allow them, let them go to an exchange that is bound to apns.jobs and that "
        + "jobs.from names"

    static let cases: [Case] = [
        Case(
            testDescription: "a producer's own exchange, which no setting can trust",
            rows: ["exchange apns.q.reply.shop.e: bound to apns.jobs by #: \(refused) | -"],
            trusted: ["apns.q.reply.other.e"]
        ) { $0.bindings.append(bind("apns.q.reply.shop.e", "apns.jobs", "#")) },
        Case(
            testDescription: "an event exchange",
            rows: ["exchange events: bound to apns.jobs by development.#: \(refused)\(unless) | events"]
        ) { $0.bindings.append(bind("events", "apns.jobs", "development.#")) },
        Case(testDescription: "one that is trusted", rows: [], trusted: ["events"]) {
            $0.bindings.append(bind("events", "apns.jobs", "#"))
            $0.bindings.append(bind("events", "apns.q.jobs.shop", "x", toQueue: true))
        },
        Case(
            testDescription: "one that is trusted with jobs, and leads to results, too",
            rows: ["exchange events: bound to apns.jobs, bound to apns.results: \(refused)\(unless) | -"],
            trusted: ["events"]
        ) { $0.bindings += [bind("events", "apns.jobs"), bind("events", "apns.results")] },
        Case(
            testDescription: "an exchange in front of a trusted one, in a circle",
            rows: ["exchange amq.topic: bound to events by a.b, which leads on: \(refused)\(unless) | amq.topic"],
            trusted: ["events"]
        ) {
            $0.bindings += [
                bind("events", "apns.jobs"), bind("amq.topic", "events", "a.b"), bind("events", "amq.topic"),
            ]
        },
        Case(
            testDescription: "a binding to a job queue itself",
            rows: ["exchange events: bound to apns.q.jobs.shop by k: \(refused)\(unless) | events"]
        ) { $0.bindings.append(bind("events", "apns.q.jobs.shop", "k", toQueue: true)) },
        Case(
            testDescription: "bindings to what workers write",
            rows: [
                "exchange events: bound to apns.control, bound to apns.dead and 1 more: who sends what comes this way is "
                    + "not checked | -"
            ]
        ) { $0.bindings += ["apns.control", "apns.dead", "apns.return"].map { bind("events", $0) } },
        Case(
            testDescription: "an alternate exchange of a declaration, and one of a policy",
            rows: [
                "exchange one: its alternate exchange is apns.jobs: \(refused)\(unless) | one",
                "exchange two: its alternate exchange is apns.jobs: \(refused)\(unless) | two",
            ]
        ) {
            $0.exchanges.append(.init(name: "one", kind: "topic", alternate: "apns.jobs"))
            $0.exchanges.append(.init(name: "two", kind: "topic", policy: "mine"))
            $0.policies.append(
                .init(
                    name: "mine", pattern: "two", scope: "exchanges", priority: 1,
                    settings: ["alternate-exchange": .text("apns.jobs")]))
        },
        Case(
            testDescription: "a binding from one exchange of the contract to another",
            rows: ["binding apns.dead -> apns.jobs by #: no topology has it | -"], trusted: ["apns.dead"]
        ) { $0.bindings.append(bind("apns.dead", "apns.jobs", "#")) },
        Case(
            testDescription: "dead letters of a declaration, by a key, and of a policy that is not told yet",
            rows: [
                "queue apns.q.reply.shop.d: its dead letters go to apns.jobs\(letters) | -",
                "queue moved: its dead letters go to apns.q.jobs.shop\(letters) | -",
                "queue orders: its dead letters go to apns.return by policy mine\(letters) | -",
            ]
        ) {
            $0.queues += [
                .init(
                    name: "apns.q.reply.shop.d", kind: "classic", deadLetters: .init(exchange: "apns.jobs"),
                    policy: "mine"),
                .init(name: "moved", kind: "classic", deadLetters: .init(exchange: "", key: "apns.q.jobs.shop")),
                .init(name: "orders", kind: "classic"),
            ]
            $0.policies.append(
                .init(
                    name: "mine", pattern: "^orders$", scope: "queues", priority: 1,
                    settings: ["dead-letter-exchange": .text("apns.return")]))
        },
        Case(testDescription: "what does not lead in", rows: []) {
            $0.exchanges.append(.init(name: "events", kind: "topic", alternate: "other"))
            $0.bindings += [
                bind("", "apns.q.jobs.shop", "apns.q.jobs.shop", toQueue: true), bind("events", "other"),
                bind("apns.dead", "team"), bind("apns.results", "apns.q.tap.me.1", "#", toQueue: true),
                bind("events", "apns.q.reply.me.1", toQueue: true),
            ]
            $0.queues += [
                .init(name: "a", kind: "quorum", deadLetters: .init(exchange: "events")),
                .init(name: "b", kind: "quorum", deadLetters: .init(exchange: "", key: "c")),
                .init(name: "c", kind: "quorum", deadLetters: .init(exchange: "")),
            ]
        },
    ]

    @Test("Each is named with how it leads in, and with the exchange that jobs.from may name", arguments: cases)
    func ways(_ row: Case) {
        var live = TopologyDriftTests.live()
        row.make(&live)
        var topology = BrokerTopologyTests.topology
        topology.trustedExchanges = row.trusted
        let comparison = topology.compared(with: live)
        #expect(comparison.drift.map { "\($0.object): \($0.detail) | \($0.exchange ?? "-")" } == row.rows)
        #expect(comparison.drift == comparison.foreignWays)
        #expect(comparison.drift.allSatisfy { $0.kind == .foreign && !$0.remedies.isEmpty })
        #expect(comparison.plan(prunes: true).isEmpty, "what others made is theirs")
    }

    @Test("A long row of exchanges is followed to its end")
    func chain() {
        let last = 20_000
        let bindings = (0..<last).map { Self.bind("e\($0)", "e\($0 + 1)") } + [Self.bind("e\(last)", "apns.jobs")]
        #expect(LiveTopology(bindings: bindings).foreignWays(trusting: []).count == last + 1)
    }

    @Test("A binding between exchanges is taken away by a command that says so")
    func command() {
        let admin = AdminCommands(ManagementPlace(host: "h", port: 1, user: "u"), virtualHost: "/")
        let remedies = [TopologyRemedy.unbind(Self.bind("events", "apns.jobs", "a"))]
        #expect(
            admin.one(remedies).hasSuffix(
                "delete binding source=events destination=apns.jobs destination_type=exchange properties_key=a"))
        #expect(
            admin.two(remedies)?.hasSuffix(
                "delete binding --source events --destination apns.jobs --destination-type exchange --routing-key a")
                == true)
    }
}
