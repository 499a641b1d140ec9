import PushWorker
import Testing
import Topology

@testable import MartletCommands

@Suite("What needs a person, and what to do next", .timeLimit(.minutes(1)))
struct StatusDiagnosisTests {
    /// Facts and the one finding that follows from them.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: StatusFacts
        var urgency: StatusFinding.Urgency
        var object: String
        /// Part of the detail.
        var detail: String
        /// How the advice begins.
        var next: String
    }

    private static func findings(_ facts: StatusFacts) -> [StatusFinding] { StatusDiagnosis(facts: facts).findings }

    @Test("Nothing does where everything is as it should be, a draining worker and dead tokens included")
    func nothing() {
        #expect(Self.findings(StatusFixture.facts()) == [])
        let draining = StatusFixture.report("w-3", ago: 20_000) {
            $0.isDraining = true
            $0.reasons = ["draining"]
        }
        #expect(Self.findings(StatusFixture.facts(reports: [StatusFixture.report("w-1"), draining])) == [])
        let unseen = StatusFixture.facts(reports: []) {
            $0.activity.nodes = nil
        }
        #expect(Self.findings(unseen) == [], "what cannot be seen is not a fault")
        let young = StatusFixture.facts {
            $0.jobQueues { queue in
                (queue.ready, queue.consumers, queue.state, queue.leader) = (nil, nil, nil, nil)
            }
        }
        #expect(Self.findings(young) == [], "numbers that the broker has not taken yet say nothing")
        let all = StatusFixture.facts { facts in
            facts.objects = .init(queues: facts.activity.queues.map(\.name))
            for index in facts.activity.queues.indices {
                facts.activity.queues[index] = .init(
                    name: facts.activity.queues[index].name, kind: nil, state: "live", leader: nil, ready: nil,
                    unacknowledged: nil, consumers: nil, bytes: nil, settings: nil)
            }
            facts.activity.nodes = [.init(name: "one", isRunning: nil, hasMemoryAlarm: nil, hasDiskAlarm: nil)]
        }
        #expect(Self.findings(all) == [], "statistics that are off say nothing")
        let late = StatusFixture.facts { $0.jobQueues { ($0.ready, $0.consumers) = (12, 0) } }
        #expect(Self.findings(late) == [], "workers know of their consumers before the broker has counted them")
        let reading = StatusFixture.facts(reports: []) {
            $0.isCatchingUp = true
            $0.jobQueues { $0.consumers = 0 }
        }
        #expect(Self.findings(reading) == [], "reports that are not read yet may say who takes jobs")
        let some = StatusFixture.facts(reports: []) {
            $0.jobQueues { $0.consumers = 0 }
            $0.queue("apns.q.jobs.chat") { $0.consumers = nil }
        }
        #expect(Self.findings(some).map(\.object).contains("workers") == false, "chat may have a consumer")
        let pair = StatusFixture.facts {
            $0.activity.nodes?.append(.init(name: "rabbit@two"))
            $0.jobQueues { $0.members = ["rabbit@one"] }
        }
        #expect(Self.findings(pair) == [], "of two members, either would stop a queue")
    }

    private static func operatorPolicy(_ key: String) -> OperatorPolicyEffect {
        OperatorPolicyEffect(
            policy: "ops", queues: ["apns.q.dead"], changes: [.init(key: key, value: .integer(5))])
    }

    private static let ways = [
        ForeignWay(object: "exchange events", detail: "bound to apns.jobs", exchange: "events", remedies: []),
        ForeignWay(object: "queue orders", detail: "its dead letters go to apns.jobs", exchange: nil, remedies: []),
    ]

    static let brokerCases: [Case] = [
        Case(
            testDescription: "a node that is down",
            facts: StatusFixture.facts { $0.activity.nodes?.append(.init(name: "rabbit@two", isRunning: false)) },
            urgency: .now, object: "node rabbit@two", detail: "does not run", next: "rabbitmqctl cluster_status"),
        Case(
            testDescription: "an alarm of memory, during which silent workers are not news",
            facts: StatusFixture.facts(reports: [StatusFixture.report("w-1", ago: 60_000)]) {
                $0.activity.nodes?[0].hasMemoryAlarm = true
            }, urgency: .now, object: "node rabbit@one", detail: "short of memory",
            next: "rabbitmq-diagnostics -n rabbit@one memory_breakdown"),
        Case(
            testDescription: "an alarm of the disk",
            facts: StatusFixture.facts { $0.activity.nodes?[0].hasDiskAlarm = true },
            urgency: .now, object: "node rabbit@one", detail: "disk is nearly full", next: "rabbitmq-diagnostics"),
        Case(
            testDescription: "a queue without a leader, in a virtual host whose name needs quotes",
            facts: StatusFixture.facts {
                $0.virtualHost = "my apps"
                $0.queue("apns.q.jobs.shop") { ($0.leader, $0.state) = ("", "down") }
            }, urgency: .now, object: "queue apns.q.jobs.shop", detail: "no leader (down)",
            next: "rabbitmq-queues quorum_status --vhost 'my apps' apns.q.jobs.shop"),
        Case(
            testDescription: "a full results queue",
            facts: StatusFixture.facts { $0.queue("apns.q.results") { ($0.bytes, $0.consumers) = (999_000, 1) } },
            urgency: .now, object: "queue apns.q.results", detail: "99 % full: workers push nothing",
            next: "martlet results --drain --queue apns.q.results"),
        Case(
            testDescription: "a results queue that is nearly full",
            facts: StatusFixture.facts { $0.queue("apns.q.results") { ($0.bytes, $0.consumers) = (850_000, 1) } },
            urgency: .soon, object: "queue apns.q.results", detail: "85 % full: once it is full",
            next: "martlet results --drain --queue apns.q.results"),
        Case(
            testDescription: "a queue of dead letters that is nearly full",
            facts: StatusFixture.facts { $0.queue("apns.q.dead") { $0.bytes = 800_000 } },
            urgency: .soon, object: "queue apns.q.dead", detail: "80 % full", next: "martlet dead list"),
        Case(
            testDescription: "a job queue that is full",
            facts: StatusFixture.facts { $0.queue("apns.q.jobs.shop") { $0.bytes = 1_000_000 } },
            urgency: .now, object: "queue apns.q.jobs.shop", detail: "producers are refused", next: "martlet worker"),
        Case(
            testDescription: "a queue of jobs that wait for their time, nearly full by their number",
            facts: StatusFixture.facts {
                $0.activity.queues.append(
                    .init(
                        name: "apns.q.retry.hold.6h", ready: 900, bytes: 9_000,
                        settings: [
                            "overflow": .text("reject-publish"), "max-length": .integer(1_000),
                            "max-length-bytes": .integer(512_000), "message-ttl": .integer(1),
                            "dead-letter-exchange": .text("apns.return"),
                        ]))
            },
            urgency: .soon, object: "queue apns.q.retry.hold.6h",
            detail: "90 % full: once it is full, jobs with not_before and jobs of paused campaigns end as exhausted",
            next: "raise retry.holding_limit, then: martlet topology apply"),
        Case(
            testDescription: "a tier without its policy",
            facts: StatusFixture.facts {
                $0.configuration = "my.yaml"
                $0.queue("apns.q.retry.2s") { ($0.settings, $0.ready) = ([:], 9) }
            }, urgency: .now, object: "queue apns.q.retry.2s", detail: "never come back; 9 copies wait",
            next: "martlet topology apply --config my.yaml"),
        Case(
            testDescription: "a tier without its policy, of which nobody counted the copies",
            facts: StatusFixture.facts { $0.queue("apns.q.retry.2s") { ($0.settings, $0.ready) = ([:], nil) } },
            urgency: .now, object: "queue apns.q.retry.2s", detail: "nobody knows how many copies wait",
            next: "martlet topology apply"),
        Case(
            testDescription: "queues that every topology has, a tier and a route's return queue, all gone",
            facts: StatusFixture.facts {
                $0.objects = .init(queues: ["apns.q.results", "apns.q.dead", "apns.q.retry.2s"])
                $0.activity.queues.removeAll {
                    ["apns.q.results", "apns.q.retry.2s", "apns.q.jobs.chat.return"].contains($0.name)
                }
            }, urgency: .now, object: "queues apns.q.jobs.chat.return, apns.q.results, apns.q.retry.2s",
            detail: "missing: what belongs there", next: "martlet topology apply --config martlet.yaml"),
        Case(
            testDescription: "exchanges that are gone",
            facts: StatusFixture.facts { $0.objects = .init(missingExchanges: ["apns.results", "apns.retry.1m"]) },
            urgency: .now, object: "exchanges apns.results, apns.retry.1m", detail: "missing: what belongs there",
            next: "martlet topology apply --config martlet.yaml"),
        Case(
            testDescription: "an operator policy that loses messages",
            facts: StatusFixture.facts {
                $0.virtualHost = "my apps"
                $0.objects = .init(operatorPolicies: [operatorPolicy("message-ttl")])
            }, urgency: .now, object: "operator policy ops", detail: "it sets on apns.q.dead: message-ttl 5",
            next: "rabbitmqctl clear_operator_policy -p 'my apps' ops"),
        Case(
            testDescription: "an operator policy with a limit",
            facts: StatusFixture.facts { $0.objects = .init(operatorPolicies: [operatorPolicy("max-length")]) },
            urgency: .soon, object: "operator policy ops", detail: "max-length 5, so that queues refuse messages",
            next: "rabbitmqctl clear_operator_policy -p / ops"),
        Case(
            testDescription: "ways of others into the contract",
            facts: StatusFixture.facts { $0.objects = .init(foreignWays: ways) },
            urgency: .soon, object: "exchange events", detail: "bound to apns.jobs, and 1 more such",
            next: "martlet topology check --config martlet.yaml"),
        Case(
            testDescription: "ways of others, where nobody knows which exchanges are trusted",
            facts: StatusFixture.facts { $0.objects = .init(foreignWays: ways, knowsTrusted: false) },
            urgency: .soon, object: "queue orders", detail: "its dead letters go to apns.jobs.",
            next: "martlet topology check"),
        Case(
            testDescription: "dead letters",
            facts: StatusFixture.facts { $0.queue("apns.q.dead") { ($0.ready, $0.unacknowledged) = (1_233, 1) } },
            urgency: .soon, object: "queue apns.q.dead", detail: "1 234 dead letters wait", next: "martlet dead list"),
        Case(
            testDescription: "results that no queue was bound for",
            facts: StatusFixture.facts { $0.queue("apns.q.results.unclaimed") { $0.ready = 1 } },
            urgency: .soon, object: "queue apns.q.results.unclaimed", detail: "1 result went to no other queue",
            next: "martlet topology check"),
        Case(
            testDescription: "results that nobody reads",
            facts: StatusFixture.facts { $0.queue("apns.q.results") { $0.ready = 30 } },
            urgency: .soon, object: "queue apns.q.results", detail: "30 results wait and nobody reads them",
            next: "start the program that reads them; if nobody wants them, throw them away with: martlet results"),
        Case(
            testDescription: "queues that were made before the other nodes joined",
            facts: StatusFixture.facts {
                $0.activity.nodes? += ["rabbit@three", "rabbit@two"].map { .init(name: $0) }
                $0.jobQueues { $0.members = ["rabbit@one"] }
                $0.queue("apns.q.results") { $0.members = ["rabbit@one", "rabbit@two", "rabbit@three"] }
            }, urgency: .soon, object: "queues apns.q.jobs.chat, apns.q.jobs.chat.return, apns.q.jobs.shop and 3 more",
            detail: "1 node keeps apns.q.jobs.chat where 3 could", next: "rabbitmq-queues grow rabbit@three all"),
        Case(
            testDescription: "a stream that two of four nodes keep",
            facts: StatusFixture.facts {
                $0.activity.nodes = ["d", "b", "c", "a"].map { .init(name: $0) }
                $0.queue("apns.q.fleet") { $0.members = ["a", "c"] }
            }, urgency: .soon, object: "queue apns.q.fleet", detail: "2 nodes keep apns.q.fleet where 3 could",
            next: "rabbitmq-streams add_replica --vhost / apns.q.fleet b"),
    ]

    /// Workers that do not have the route `shop`.
    private static let others = [StatusFixture.report("w-1") { $0.routes.remove(at: 0) }]

    static let fleetCases: [Case] = [
        Case(
            testDescription: "a further queue of a route that workers take from, once its consumers are counted",
            facts: StatusFixture.facts {
                $0.activity.queues.append(.init(name: "apns.q.jobs.shop.high", ready: 3, consumers: 0))
            }, urgency: .now, object: "queue apns.q.jobs.shop.high", detail: "3 jobs wait and no worker takes them",
            next: "martlet worker"),
        Case(
            testDescription: "no worker at all",
            facts: StatusFixture.facts(reports: []) { $0.jobQueues { ($0.consumers, $0.ready) = (0, 1) } },
            urgency: .now, object: "workers", detail: "no worker takes jobs from any queue; 6 jobs wait",
            next: "martlet worker --config martlet.yaml"),
        Case(
            testDescription: "no worker at all, while no job waits",
            facts: StatusFixture.facts(reports: []) { $0.jobQueues { ($0.consumers, $0.ready) = (0, 0) } },
            urgency: .soon, object: "workers", detail: "no worker takes jobs from any queue.",
            next: "martlet worker --config martlet.yaml"),
        Case(
            testDescription: "one job queue that no worker serves",
            facts: StatusFixture.facts(reports: Self.others) {
                $0.queue("apns.q.jobs.shop") { ($0.consumers, $0.ready) = (0, 12) }
            },
            urgency: .now, object: "queue apns.q.jobs.shop", detail: "12 jobs wait and no worker takes them",
            next: "martlet worker"),
        Case(
            testDescription: "one that is empty",
            facts: StatusFixture.facts(reports: Self.others) { $0.queue("apns.q.jobs.shop") { $0.consumers = 0 } },
            urgency: .soon, object: "queue apns.q.jobs.shop", detail: "no worker would take its jobs",
            next: "martlet worker"),
        Case(
            testDescription: "a route that is parked everywhere, whose queue then has no consumer",
            facts: StatusFixture.facts(
                reports: ["w-1", "w-2"].map { name in
                    StatusFixture.report(name) {
                        $0.routes[0].state = "parked"
                        $0.routes[0].reason = "InvalidProviderToken"
                    }
                }
            ) { $0.queue("apns.q.jobs.shop") { ($0.consumers, $0.ready) = (0, 12) } },
            urgency: .now, object: "route shop", detail: "parked in all 2 workers: InvalidProviderToken",
            next: "martlet check"),
        Case(
            testDescription: "a route that cannot start",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1") {
                        $0.routes[0].state = "starting"
                        $0.routes[0].reason = "no queue apns.q.jobs.shop"
                    }
                ]),
            urgency: .now, object: "route shop", detail: "starting in its worker: no queue", next: "martlet check"),
        Case(
            testDescription: "a route that its own results queue stops, as the second of its workers says",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1"),
                    StatusFixture.report("w-2") {
                        ($0.routes[0].reason, $0.routes[0].isRefused) = ("results_full", true)
                        $0.routes[0].limitedBy = "broker"
                    },
                ]),
            urgency: .now, object: "route shop", detail: "results_full: RabbitMQ does not take what it publishes",
            next: "martlet results --drain --queue QUEUE"),
        Case(
            testDescription: "a route whose copies find no tier",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1") {
                        $0.routes[0].reason = "the broker closed the publish channel: 404 NOT_FOUND"
                        $0.routes[0].isRefused = true
                    }
                ]),
            urgency: .now, object: "route shop", detail: "404 NOT_FOUND: RabbitMQ does not take",
            next: "martlet topology check --config"),
        Case(
            testDescription: "a route that pushes and lacks its return queue",
            facts: StatusFixture.facts(
                reports: [StatusFixture.report("w-1") { $0.routes[0].reason = "no queue apns.q.jobs.shop.return" }]),
            urgency: .soon, object: "route shop", detail: "it pushes, but: no queue", next: "martlet check"),
        Case(
            testDescription: "a refusal that stops the whole worker, told once, while a connection to APNs opens",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1") {
                        $0.reasons = ["results_full"]
                        ($0.routes[0].reason, $0.routes[0].isRefused) = ("results_full", true)
                    },
                    StatusFixture.report("w-2") {
                        $0.share = "auto"
                        $0.routes.remove(at: 0)
                        ($0.routes[0].reason, $0.routes[0].connections) = ("APNs: connecting", 0)
                    },
                ]),
            urgency: .now, object: "worker w-1", detail: "not ready: results_full", next: "martlet health --ready"),
        Case(
            testDescription: "a route that one worker cannot push for",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1"), StatusFixture.report("w-2") { $0.routes[0].state = "unreachable" },
                ]),
            urgency: .soon, object: "route shop", detail: "does not push in worker w-2", next: "martlet health"),
        Case(
            testDescription: "a route that doubts its device tokens",
            facts: StatusFixture.facts(reports: [StatusFixture.report("w-1") { $0.routes[1].holdsTokens = true }]),
            urgency: .soon, object: "route chat", detail: "results say hold", next: "martlet dead list --tokens"),
        Case(
            testDescription: "a worker that is not ready",
            facts: StatusFixture.facts(
                reports: [StatusFixture.report("w-1"), StatusFixture.report("w-2") { $0.reasons = ["results_full"] }]),
            urgency: .now, object: "worker w-2", detail: "not ready: results_full", next: "martlet health --ready"),
        Case(
            testDescription: "a worker that fell silent",
            facts: StatusFixture.facts(
                reports: [StatusFixture.report("w-1"), StatusFixture.report("w-2", ago: 47_000)]),
            urgency: .soon, object: "worker w-2", detail: "said nothing for 47 s", next: "martlet health"),
        Case(
            testDescription: "jobs that wait too long behind a rate",
            facts: StatusFixture.facts(
                reports: [StatusFixture.report("w-1") { $0.routes[0].limitedBy = "rate" }]
            ) { $0.queue("apns.q.jobs.shop") { ($0.ready, $0.deliveryRate) = (60_000, 100) } },
            urgency: .soon, object: "queue apns.q.jobs.shop",
            detail: "10 minutes at the present rate. Limited by: rate",
            next: "raise routes[].rate"),
        Case(
            testDescription: "workers of two versions",
            facts: StatusFixture.facts(
                reports: [StatusFixture.report("w-1"), StatusFixture.report("w-2", program: "0.2.0")]),
            urgency: .soon, object: "worker w-1", detail: "version 0.1.0, others have 0.2.0", next: "replace"),
        Case(
            testDescription: "a worker that was forgotten when a route was added",
            facts: StatusFixture.facts(
                reports: [
                    StatusFixture.report("w-1"), StatusFixture.report("w-2"),
                    StatusFixture.report("w-3") { $0.routes.removeAll { $0.name == "chat" } },
                ]),
            urgency: .soon, object: "route chat", detail: "it is unknown to worker w-3, while 2 workers serve it.",
            next: "give these workers the configuration"),
        Case(
            testDescription: "reports that the login may not read",
            facts: StatusFixture.facts(reports: []) { $0.fleetTrouble = "ACCESS_REFUSED" },
            urgency: .soon, object: "workers", detail: "nothing is known: ACCESS_REFUSED",
            next: "ask as a user that may read apns.q.fleet, such as apns-monitor"),
        Case(
            testDescription: "commands that cannot be read",
            facts: StatusFixture.facts { $0.controlTrouble = "no queue" },
            urgency: .soon, object: "commands", detail: "no queue", next: "ask as a user that may read apns.q.control"),
    ]

    @Test("Workers for other apps, and those that divide the routes, are not forgotten ones")
    func pools() {
        func serving(_ name: String, _ routes: [String], share: String = "all") -> WorkerReport {
            StatusFixture.report(name) {
                $0.share = share
                $0.routes.removeAll { !routes.contains($0.name) }
            }
        }
        let pools = [serving("w-1", ["shop", "unrouted"]), serving("w-2", ["chat", "unrouted"])]
        let shares = [serving("w-1", ["shop", "chat"], share: "auto"), serving("w-2", ["chat"], share: "auto")]
        for reports in [pools, shares] { #expect(Self.findings(StatusFixture.facts(reports: reports)) == []) }
    }

    @Test(
        "Each thing that is wrong is one finding: what, where, why, and what to do next",
        arguments: brokerCases + fleetCases)
    func one(_ example: Case) throws {
        let findings = Self.findings(example.facts)
        let finding = try #require(findings.first)
        #expect(findings.count == 1, "\(findings)")
        #expect(finding.urgency == example.urgency && finding.object == example.object, "\(finding)")
        #expect(finding.detail.contains(example.detail), "\(finding.detail)")
        #expect(finding.next.hasPrefix(example.next), "\(finding.next)")
    }

    @Test(
        "Advice about a worker has the address of its admin server, as far as it is known",
        arguments: [
            ("127.0.0.1:9464", "'127.0.0.1:9464'"), ("0.0.0.0:45123", "'HOST:45123'"), ("[::]:9464", "'HOST:9464'"),
            ("[2001:db8::1]:9464", "'[2001:db8::1]:9464'"), ("$(reboot):1", "'$(reboot):1'"), (nil, "HOST:PORT"),
        ] as [(String?, String)])
    func address(_ admin: String?, _ written: String) {
        func advice(ago: Int64 = 5_000, _ change: (inout WorkerReport) -> Void) -> [String] {
            let worker = StatusFixture.report("w-2", ago: ago) {
                $0.admin = admin
                change(&$0)
            }
            return Self.findings(StatusFixture.facts(reports: [StatusFixture.report("w-1"), worker])).map(\.next)
        }
        #expect(advice(ago: 47_000) { _ in } == ["martlet health --address \(written)"])
        #expect(advice { $0.reasons = ["blocked"] } == ["martlet health --ready --address \(written)"])
        #expect(advice { $0.routes[0].state = "parked" } == ["martlet health --ready --address \(written)"])
    }

    @Test("Queues of a young node may be there soon, those of an older one not, and a fault of another kind stays one")
    func settles() {
        func maySettle(_ uptime: Duration?, _ change: (inout StatusFacts) -> Void) -> Bool {
            StatusDiagnosis(
                facts: StatusFixture.facts {
                    $0.activity.nodes?[0].uptime = uptime
                    change(&$0)
                }
            ).maySettle
        }
        let lacks: [(inout StatusFacts) -> Void] = [
            { $0.queue("apns.q.jobs.shop") { ($0.leader, $0.state) = ("", "down") } },
            { facts in
                facts.objects = .init(queues: facts.activity.queues.map(\.name))
                facts.activity.queues.removeAll { $0.name == "apns.q.dead" }
            },
            { $0.fleetTrouble = "no such stream" },
        ]
        for lack in lacks {
            #expect(maySettle(.milliseconds(29_999), lack) && maySettle(nil, lack))
            #expect(!maySettle(.seconds(30), lack))
        }
        #expect(!maySettle(.seconds(1)) { $0.activity.nodes?[0].hasDiskAlarm = true })
    }

    @Test(
        "A young node is looked at again until its queues are there, and at the latest when it is young no more",
        arguments: [(1, 1), (3, 3), (1_000, 31)])
    func looksAgain(goodFrom: Int, looks: Int) async throws {
        var (count, pauses) = (0, 0)
        let facts = try await StatusCommand.settled {
            pauses += 1
        } look: {
            count += 1
            return StatusFixture.facts {
                $0.activity.nodes?[0].uptime = .seconds(1)
                if count < goodFrom { $0.fleetTrouble = "no such stream" }
            }
        }
        #expect(count == looks && pauses == looks - 1)
        #expect((facts.fleetTrouble == nil) == (goodFrom == looks))
    }

    @Test(
        "Versions are compared by their numbers",
        arguments: [
            ("0.9.1", "0.10.0", true), ("0.10.0", "0.9.1", false), ("1.0.0", "1.0.0", false), ("1.0", "1.0.1", true),
            ("", "0.1.0", true), ("1.0.0", "99999999999999999999", false),
        ])
    func versions(_ one: String, _ other: String, _ isEarlier: Bool) {
        #expect(StatusDiagnosis.isEarlier(one, than: other) == isEarlier)
    }

    @Test("The worst comes first, and objects of one fault share a line that names three of them")
    func order() {
        let facts = StatusFixture.facts {
            $0.queue("apns.q.dead") { $0.ready = 3 }
            for number in 1...5 {
                $0.activity.queues.append(.init(name: "apns.q.jobs.app-\(number)", ready: 2, consumers: 0))
            }
            $0.activity.nodes?[0].hasDiskAlarm = true
        }
        let findings = Self.findings(facts)
        #expect(
            findings.map(\.object) == [
                "node rabbit@one", "queues apns.q.jobs.app-1, apns.q.jobs.app-2, apns.q.jobs.app-3 and 2 more",
                "queue apns.q.dead",
            ])
        #expect(findings[1].detail == "10 jobs wait and no worker takes them.")
    }
}
