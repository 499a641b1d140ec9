import PushModel
import Testing

@testable import Topology

@Suite("Topology drift", .timeLimit(.minutes(1)))
struct TopologyDriftTests {
    /// A broker that holds exactly what the topology wants.
    static func live(_ topology: BrokerTopology = BrokerTopologyTests.topology) -> LiveTopology {
        return LiveTopology(
            exchanges: topology.exchanges.map {
                .init(name: $0.name, kind: $0.kind.rawValue, policy: $0.policy)
            },
            queues: topology.queues.map { .init(name: $0.name, kind: $0.kind.rawValue, policy: $0.policy) },
            bindings: topology.bindings.map {
                .init(
                    source: $0.source, destination: $0.queue, routingKey: $0.routingKey,
                    propertiesKey: $0.routingKey.isEmpty ? "~" : $0.routingKey)
            },
            policies: topology.policies.map { policy in
                .init(
                    name: policy.name, pattern: policy.pattern, scope: policy.scope.rawValue, priority: policy.priority,
                    settings: Dictionary(uniqueKeysWithValues: policy.settings.map { ($0.key, $0.value) }))
            })
    }

    @Test("a broker that holds what is wanted shows no drift, whatever else it holds of others")
    func none() {
        var live = Self.live()
        live.exchanges.append(.init(name: "amq.topic", kind: "topic"))
        live.queues.append(.init(name: "apns.q.tap.1", kind: "classic"))
        live.queues.append(.init(name: "other", kind: "classic"))
        live.bindings += [
            .init(source: "", destination: "other", routingKey: "other", propertiesKey: "other"),
            .init(source: "apns.results", destination: "apns.q.tap.1", routingKey: "#", propertiesKey: "%23"),
            .init(source: "apns.dead", destination: "team", isToQueue: false, routingKey: "#", propertiesKey: "%23"),
            .init(source: "apns.jobs", destination: "audit", routingKey: "#", propertiesKey: "%23"),
        ]
        live.policies.append(
            .init(name: "ha", pattern: ".*", scope: "all", priority: 0, settings: ["max-length": .integer(5)]))
        #expect(BrokerTopologyTests.topology.compared(with: live).drift == [])
    }

    @Test("an empty broker misses everything, each row with a command")
    func everything() {
        let topology = BrokerTopologyTests.topology
        let rows = topology.compared(with: LiveTopology()).drift
        #expect(
            rows.count == topology.exchanges.count + topology.queues.count + topology.bindings.count
                + topology.policies.count)
        #expect(rows.allSatisfy { $0.kind == .missing && !$0.remedies.isEmpty })
        #expect(
            rows.first
                == TopologyDrift(
                    kind: .missing, object: "exchange apns.return.unrouted", detail: "",
                    remedies: [.declareExchange(name: "apns.return.unrouted", kind: .fanout)]))
        #expect(
            Self.admin.one(rows.last?.remedies ?? [])
                == Self.start + "declare policy name=apns.q.control pattern='^apns\\.q\\.control$' apply-to=queues "
                + "priority=10 definition='{ \"max-age\": \"30D\", \"max-length-bytes\": 16777216, "
                + "\"stream-max-segment-size-bytes\": 1048576, \"queue-leader-locator\": \"balanced\" }'")
        let counts =
            "\(topology.exchanges.count) exchanges missing, \(topology.queues.count) queues missing, "
            + "\(topology.bindings.count) bindings missing, \(topology.policies.count) policies missing"
        #expect(TopologyDrift.summary(of: rows) == "\(rows.count) differences: \(counts)")
    }

    @Test("Differences are counted by what they are about and how they differ")
    func summary() {
        func row(_ kind: TopologyDrift.Kind, _ object: String) -> TopologyDrift {
            TopologyDrift(kind: kind, object: object, detail: "", remedies: [.apply])
        }
        #expect(TopologyDrift.summary(of: [row(.missing, "queue a")]) == "1 difference: 1 queue missing")
        let rows = [
            row(.different, "policy a"), row(.stale, "binding a"), row(.stale, "binding b"), row(.missing, "queue a"),
            row(.missing, "queue b"), row(.different, "exchange queue"),
        ]
        #expect(
            TopologyDrift.summary(of: rows)
                == "6 differences: 2 queues missing, 1 exchange differs, 1 policy differs, 2 bindings stale")
        #expect(
            TopologyDrift.summary(of: [row(.different, "policy a"), row(.different, "policy b")])
                == "2 differences: 2 policies differ")
    }

    private static let admin = AdminCommands(
        ManagementPlace(host: "broker", port: 15672, user: "ann"), virtualHost: "/")
    /// How each of its command lines for version 1 begins.
    private static let start =
        "rabbitmqadmin --host=broker --port=15672 --username=ann --password=\"$RABBITMQADMIN_PASSWORD\" --vhost=/ "

    @Test("one change gives one row", arguments: changes)
    func change(_ change: Change) {
        var live = Self.live()
        change.apply(&live)
        let rows = BrokerTopologyTests.topology.compared(with: live).drift
        #expect(rows.map { "\($0.kind.rawValue) \($0.object): \($0.detail)" } == [change.row])
        let command = change.command.replacing("rabbitmqadmin --vhost=/ ", with: Self.start)
        #expect(rows.first.map { Self.admin.one($0.remedies) } == command)
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let row: String
        let command: String
        let apply: @Sendable (inout LiveTopology) -> Void
        var testDescription: String { row }
    }

    /// What is said of a queue that RabbitMQ deletes with its messages.
    private static let look =
        "deleting it deletes its messages, so look first: rabbitmqctl list_queues -p / name messages"

    static let changes: [Change] = [
        Change(
            row: "different exchange apns.results: is durable direct, should be durable topic",
            command: "rabbitmqadmin --vhost=/ delete exchange name=apns.results && rabbitmqadmin --vhost=/ declare "
                + "exchange name=apns.results type=topic durable=true"
        ) { live in
            for index in live.exchanges.indices where live.exchanges[index].name == "apns.results" {
                live.exchanges[index].kind = "direct"
            }
        },
        Change(
            row:
                "different exchange apns.jobs: is internal, so that nobody can publish to it; goes with its last binding "
                + "(auto_delete); has the argument alternate-exchange (amq.fanout), which no policy can change",
            command:
                "rabbitmqadmin --vhost=/ delete exchange name=apns.jobs && rabbitmqadmin --vhost=/ declare exchange "
                + "name=apns.jobs type=topic durable=true"
        ) { live in
            for index in live.exchanges.indices where live.exchanges[index].name == "apns.jobs" {
                live.exchanges[index].isInternal = true
                live.exchanges[index].isAutoDeleted = true
                live.exchanges[index].alternate = "amq.fanout"
            }
        },
        Change(
            row: "different queue apns.q.fleet: is durable quorum, should be durable stream",
            command: "rabbitmqctl delete_queue -p / apns.q.fleet && rabbitmqadmin --vhost=/ declare queue "
                + "name=apns.q.fleet queue_type=stream durable=true"
        ) { live in
            for index in live.queues.indices where live.queues[index].name == "apns.q.fleet" {
                live.queues[index].kind = "quorum"
            }
        },
        Change(
            row:
                "different queue apns.q.dead: is durable classic, should be durable quorum; has arguments that no policy "
                + "can change: x-max-length",
            command: "rabbitmqctl delete_queue -p / apns.q.dead --if-empty && rabbitmqadmin --vhost=/ declare queue "
                + "name=apns.q.dead queue_type=quorum durable=true"
        ) { live in
            for index in live.queues.indices where live.queues[index].name == "apns.q.dead" {
                live.queues[index].kind = "classic"
                live.queues[index].arguments = ["x-max-length"]
            }
        },
        Change(
            row: "different queue apns.q.dead: has arguments that no policy can change: x-max-length; " + look,
            command: "rabbitmqctl delete_queue -p / apns.q.dead && rabbitmqadmin --vhost=/ declare queue "
                + "name=apns.q.dead queue_type=quorum durable=true"
        ) { live in
            for index in live.queues.indices where live.queues[index].name == "apns.q.dead" {
                live.queues[index].arguments = ["x-max-length"]
            }
        },
        Change(
            row: "missing binding apns.results -> apns.q.results by #: ",
            command: "rabbitmqadmin --vhost=/ declare binding source=apns.results destination=apns.q.results "
                + "destination_type=queue routing_key='#'"
        ) { live in live.bindings.removeAll { $0.destination == "apns.q.results" } },
        Change(
            row:
                "different policy apns.q.jobs.*: overflow is not set, should be reject-publish; delivery-limit is 20, "
                + "should be 50; max-length is set, should not be",
            command: "rabbitmqadmin --vhost=/ declare policy name='apns.q.jobs.*' "
                + "pattern='^apns\\.q\\.jobs\\.[a-z0-9-]+(\\.high)?$' apply-to=queues priority=11 "
                + "definition='{ \"dead-letter-exchange\": \"apns.dead\", \"dead-letter-strategy\": "
                + "\"at-least-once\", \"overflow\": \"reject-publish\", \"delivery-limit\": 50, "
                + "\"max-length-bytes\": 2147483648, \"queue-leader-locator\": \"balanced\" }'"
        ) { live in
            for index in live.policies.indices where live.policies[index].name == "apns.q.jobs.*" {
                live.policies[index].settings["overflow"] = nil
                live.policies[index].settings["delivery-limit"] = .integer(20)
                live.policies[index].settings["max-length"] = .integer(1)
            }
        },
        Change(
            row:
                "different policy apns.q.results: has no effect on apns.q.results: policy all's has priority 99, this one 10",
            command: "rabbitmqadmin --vhost=/ delete policy name='all'\\''s'"
        ) { live in
            live.policies.append(.init(name: "all's", pattern: ".*", scope: "all", priority: 99, settings: [:]))
            for index in live.queues.indices where live.queues[index].name == "apns.q.results" {
                live.queues[index].policy = "all's"
            }
        },
        Change(
            row:
                "stale binding apns.jobs -> apns.q.jobs.old by production.high.com.example.old: another configuration may "
                + "have this route",
            command: "rabbitmqadmin --vhost=/ delete binding source=apns.jobs destination=apns.q.jobs.old "
                + "destination_type=queue properties_key=production.high.com.example.old"
        ) { live in
            live.bindings.append(
                .init(
                    source: "apns.jobs", destination: "apns.q.jobs.old",
                    routingKey: "production.high.com.example.old", propertiesKey: "production.high.com.example.old"))
        },
        Change(
            row: "stale binding apns.jobs -> apns.q.results by #: ",
            command: "rabbitmqadmin --vhost=/ delete binding source=apns.jobs destination=apns.q.results "
                + "destination_type=queue properties_key='%23'"
        ) { live in
            live.bindings.append(
                .init(source: "apns.jobs", destination: "apns.q.results", routingKey: "#", propertiesKey: "%23"))
        },
        Change(
            row: "missing binding apns.jobs -> apns.q.jobs.shop by production.high.com.example.shop: ",
            command: "rabbitmqadmin --vhost=/ declare binding source=apns.jobs destination=apns.q.jobs.shop "
                + "destination_type=queue routing_key=production.high.com.example.shop"
        ) { live in live.bindings.removeAll { $0.routingKey == "production.high.com.example.shop" } },
        Change(
            row: "missing binding apns.return -> apns.q.jobs.shop.return by production.*.com.example.shop: goes to "
                + "apns.q.jobs.beta.return now",
            command: "rabbitmqadmin --vhost=/ declare binding source=apns.return.moving "
                + "destination=apns.q.jobs.shop.return destination_type=queue "
                + "routing_key='production.*.com.example.shop' && rabbitmqadmin --vhost=/ delete binding "
                + "source=apns.return destination=apns.q.jobs.beta.return destination_type=queue properties_key=theirs "
                + "&& rabbitmqadmin --vhost=/ declare binding source=apns.return destination=apns.q.jobs.shop.return "
                + "destination_type=queue routing_key='production.*.com.example.shop' && rabbitmqadmin --vhost=/ delete "
                + "binding source=apns.return.moving destination=apns.q.jobs.shop.return destination_type=queue "
                + "properties_key='production.%2A.com.example.shop'"
        ) { live in
            for index in live.bindings.indices where live.bindings[index].routingKey == "production.*.com.example.shop"
            {
                live.bindings[index].destination = "apns.q.jobs.beta.return"
                live.bindings[index].propertiesKey = "theirs"
            }
        },
        Change(
            row: "stale queue apns.q.results.2: not wanted any more; holds 5 messages, by a count up to 5 s old; "
                + look, command: "rabbitmqctl delete_queue -p / apns.q.results.2"
        ) { live in live.queues.append(.init(name: "apns.q.results.2", kind: "quorum", messages: 5)) },
        Change(
            row:
                "different policy apns.q.jobs.*: has no effect on apns.q.jobs.shop and 1 more: policy mine has priority "
                + "50, this one 11",
            command: "rabbitmqadmin --vhost=/ delete policy name=mine"
        ) { live in
            live.policies.append(
                .init(name: "mine", pattern: "shop|beta", scope: "queues", priority: 50, settings: [:]))
            for index in live.queues.indices
            where ["apns.q.jobs.shop", "apns.q.jobs.beta"].contains(live.queues[index].name) {
                live.queues[index].policy = "mine"
            }
        },
        Change(
            row: "missing policy apns.q.retry.2s: the tier keeps its copies for ever: no message-ttl and no "
                + "dead-letter-exchange is in effect; 300 wait in it",
            command: "martlet topology apply"
        ) { live in
            live.policies.removeAll { $0.name == "apns.q.retry.2s" }
            for index in live.queues.indices where live.queues[index].name == "apns.q.retry.2s" {
                (live.queues[index].policy, live.queues[index].messages) = (nil, 300)
            }
        },
        Change(
            row: "different policy apns.q.retry.2s: the tier keeps its copies for ever: no message-ttl is in effect; "
                + "message-ttl is not set, should be 2000",
            command: "martlet topology apply"
        ) { live in
            for index in live.policies.indices where live.policies[index].name == "apns.q.retry.2s" {
                live.policies[index].settings["message-ttl"] = nil
            }
        },
        Change(
            row: "different policy apns.q.retry.2s: the tier keeps its copies for ever: no dead-letter-exchange is in "
                + "effect; 0 wait in it; has no effect on apns.q.retry.2s: policy all has priority 99, this one 10",
            command: "martlet topology apply"
        ) { live in
            live.policies.append(
                .init(
                    name: "all", pattern: ".*", scope: "all", priority: 99,
                    settings: ["message-ttl": .integer(2_000)]))
            for index in live.queues.indices where live.queues[index].name == "apns.q.retry.2s" {
                (live.queues[index].policy, live.queues[index].messages) = ("all", 0)
            }
        },
        Change(
            row:
                "stale queue apns.q.jobs.shop.high: apns.q.jobs.shop has no high_lane any more; holds 12 messages, by a "
                + "count up to 5 s old: let workers have high_lane: true until it is empty; " + look,
            command: "rabbitmqctl delete_queue -p / apns.q.jobs.shop.high"
        ) { live in live.queues.append(.init(name: "apns.q.jobs.shop.high", kind: "quorum", messages: 12)) },
        Change(
            row: "stale queue apns.q.jobs.shop.high: not wanted any more; empty, by a count up to 5 s old; " + look,
            command: "rabbitmqctl delete_queue -p / apns.q.jobs.shop.high"
        ) { live in live.queues.append(.init(name: "apns.q.jobs.shop.high", kind: "quorum", messages: 0)) },
        Change(
            row: "stale queue apns.q.jobs.old: not wanted any more; holds 1 message, by a count up to 5 s old; " + look,
            command: "rabbitmqctl delete_queue -p / apns.q.jobs.old"
        ) { live in live.queues.append(.init(name: "apns.q.jobs.old", kind: "quorum", messages: 1)) },
        Change(
            row: "stale queue apns.q.jobs.old: not wanted any more; holds 3 messages, by a count up to 5 s old",
            command: "rabbitmqctl delete_queue -p / apns.q.jobs.old --if-empty"
        ) { live in live.queues.append(.init(name: "apns.q.jobs.old", kind: "classic", messages: 3)) },
        Change(
            row: "stale queue apns.q.retry.5m: not wanted any more; " + look,
            command: "rabbitmqctl delete_queue -p / apns.q.retry.5m"
        ) { live in
            live.queues.append(.init(name: "apns.q.retry.5m", kind: "quorum", policy: "apns.q.retry.5m"))
            live.policies.append(
                .init(name: "apns.q.retry.5m", pattern: "x", scope: "queues", priority: 10, settings: [:]))
        },
        Change(
            row: "stale policy apns.q.retry.5m: its queue is gone",
            command: "rabbitmqadmin --vhost=/ delete policy name=apns.q.retry.5m"
        ) { live in
            live.policies.append(
                .init(name: "apns.q.retry.5m", pattern: "x", scope: "queues", priority: 10, settings: [:]))
        },
        Change(
            row: "stale policy apns.q.jobs.old: one for all routes takes its place",
            command: "rabbitmqadmin --vhost=/ delete policy name=apns.q.jobs.old"
        ) { live in
            live.policies.append(
                .init(
                    name: "apns.q.jobs.old", pattern: "^apns\\.q\\.jobs\\.old$", scope: "queues", priority: 10,
                    settings: ["overflow": .text("reject-publish"), "delivery-limit": .integer(50)]))
        },
        Change(
            row: "different policy apns.q.jobs.*: has no effect on apns.q.jobs.shop: policy apns.q.jobs.shop has "
                + "priority 20, this one 11",
            command: "rabbitmqadmin --vhost=/ delete policy name=apns.q.jobs.shop"
        ) { live in
            live.policies.append(Self.own(priority: 20, ["max-length-bytes": .integer(10 << 30)]))
            for index in live.queues.indices where live.queues[index].name == "apns.q.jobs.shop" {
                live.queues[index].policy = "apns.q.jobs.shop"
            }
        },
        Change(
            row: "stale queue apns.q.jobs.other: another configuration may have this route; holds 2 messages, by a "
                + "count up to 5 s old; it has 1 consumer",
            command: ""
        ) { live in
            live.queues.append(.init(name: "apns.q.jobs.other", kind: "quorum", messages: 2, consumers: 1))
        },
        Change(
            row: "stale queue apns.q.retry.5m: another configuration may have this tier: if none has, delete its "
                + "exchange first; a binding leads to it",
            command: ""
        ) { live in
            live.queues.append(.init(name: "apns.q.retry.5m", kind: "quorum"))
            live.bindings.append(
                .init(source: "apns.retry.5m", destination: "apns.q.retry.5m", routingKey: "", propertiesKey: "~"))
        },
        Change(
            row: "stale queue apns.q.jobs.shop.high: apns.q.jobs.shop has no high_lane any more; holds 3 messages, by "
                + "a count up to 5 s old: let workers have high_lane: true until it is empty; it has 2 consumers",
            command: ""
        ) { live in
            live.queues.append(.init(name: "apns.q.jobs.shop.high", kind: "quorum", messages: 3, consumers: 2))
        },
    ]

    /// A policy that is named like a queue of a route.
    private static func own(priority: Int, _ settings: [String: TopologyValue]) -> LiveTopology.Policy {
        LiveTopology.Policy(
            name: "apns.q.jobs.shop", pattern: "^apns\\.q\\.jobs\\.shop$", scope: "queues", priority: priority,
            settings: settings)
    }

    @Test("a policy with the name of one of an earlier version stays if its priority or its settings are others")
    func ownPolicies() {
        func steps(_ policy: LiveTopology.Policy) -> [TopologyStep] {
            var live = Self.live()
            live.policies.append(policy)
            return BrokerTopologyTests.topology.compared(with: live).plan(prunes: true)
        }
        let settings: [String: TopologyValue] = ["max-length-bytes": .integer(10 << 30)]
        #expect(steps(Self.own(priority: 10, settings)) == [.clear(policy: "apns.q.jobs.shop")])
        #expect(steps(Self.own(priority: 20, settings)) == [])
        #expect(steps(Self.own(priority: 10, ["max-length": .integer(5)])) == [])
    }

    @Test("a queue to which bindings of another route lead gets no command that deletes it")
    func boundQueue() {
        var live = Self.live()
        live.queues.append(.init(name: "apns.q.jobs.other", kind: "quorum", messages: 0, consumers: 0))
        live.bindings.append(
            .init(
                source: "apns.jobs", destination: "apns.q.jobs.other", routingKey: "production.high.com.example.other",
                propertiesKey: "production.high.com.example.other"))
        let row = BrokerTopologyTests.topology.compared(with: live).drift.first { $0.object.hasPrefix("queue ") }
        #expect(row?.detail == "another configuration may have this route; a binding leads to it")
        #expect(row?.remedies == [])
    }

    @Test(
        "how many queues each node of a cluster leads is counted, those without any included, and of a single node not")
    func leaders() {
        let topology = BrokerTopologyTests.topology
        func leaders(_ nodes: [String]) -> [String] {
            let queues = topology.queues.map {
                LiveTopology.Queue(name: $0.name, kind: "quorum", leader: nodes[0], members: nodes)
            }
            let others = [LiveTopology.Queue(name: "other", kind: "quorum", leader: "c", members: ["c"])]
            return topology.compared(with: LiveTopology(queues: queues + others)).leaders.map {
                "\($0.node) \($0.queues)"
            }
        }
        #expect(leaders(["b", "a"]) == ["a 0", "b \(topology.queues.count)"])
        #expect(leaders(["a"]) == [])
    }
}
