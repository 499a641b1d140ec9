import FoundationEssentials
import PushWorker
import Testing
import Topology

@testable import MartletCommands

@Suite("How a status looks", .timeLimit(.minutes(1)))
struct StatusTextTests {
    /// A status with long names, large numbers and every kind of trouble.
    private static let crowded = StatusFixture.facts(
        reports: (1...30).map { number in
            StatusFixture.report("martlet-worker-7f9c4b8d6-x\(number)-of-a-deployment-with-a-long-name") { report in
                report.reasons = ["broker (consuming): \(String(repeating: "no route to the host, ", count: 8))"]
                report.inFlight = 12_345_678
                report.admin = "[2001:db8::\(number)]:45123"
                report.routes = (1...40).map { route in
                    WorkerReport.Route(
                        name: "a-route-with-as-many-letters-as-may-be-\(route)", state: "unreachable",
                        reason: "connection refused", limitedBy: "streams", inFlight: 1_000_000_000)
                }
                report.failures = [.init(outcome: "exhausted", reason: "ServiceUnavailable", count: 1_234_567)]
            }
        }
    ) {
        for number in 1...40 {
            $0.activity.queues.append(
                .init(
                    name: "apns.q.jobs.a-route-with-as-many-letters-as-may-be-\(number)", ready: 999_999_999,
                    unacknowledged: 50_000, consumers: 0, publishRate: 12_345.6, deliveryRate: 0.25))
        }
        $0.letters = (1...9).map {
            .init(queue: "apns.q.dead", outcome: "rejected", reason: "AReasonNumber\($0)", count: 1_000_000)
        }
    }

    private func lines(_ facts: StatusFacts, colour: Bool = false, all: Bool = false, width: Int = 80) -> [String] {
        StatusText(
            facts: facts, findings: StatusDiagnosis(facts: facts).findings, width: width, colour: colour, showsAll: all
        ).lines
    }

    @Test(
        "Every line fits 80 columns but commands to copy, however long names and numbers are", arguments: [false, true])
    func width(_ all: Bool) {
        for line in lines(Self.crowded, all: all) where !line.contains("→") {
            #expect(line.count <= 80, "\(line.count): \(line)")
        }
        for line in lines(StatusFixture.facts()) { #expect(line.count <= 80, "\(line)") }
    }

    @Test("A quiet fleet is a screen: nothing to do, its workers, its routes, the queues that matter")
    func quiet() {
        let text = lines(StatusFixture.facts())
        #expect(text.first == "RabbitMQ 3.10.8 at http://127.0.0.1:15672, virtual host /,")
        #expect(text.contains("Nothing needs a person."))
        #expect(text.contains { $0.hasPrefix("w-1 ") && $0.contains("ready") && $0.contains("59 m 55 s") })
        #expect(text.contains { $0.hasPrefix("shop ") && $0.hasSuffix("2           -          0") })
        #expect(text.contains("apns.q.jobs.shop                            0        0         2       -       -"))
        #expect(!text.contains { $0.contains("apns.q.jobs.shop.return") || $0.hasPrefix("unrouted") })
        #expect(text.contains("8 more hold nothing (--all)"))
        #expect(text.contains("dead letters: 0 in apns.q.dead, 55 in apns.q.dead.tokens"))
        #expect(lines(StatusFixture.facts(), all: true).contains { $0.contains("apns.q.jobs.shop.return") })
    }

    @Test("What is held until its time stands apart, with its size and its limit, as far as they are known")
    func held() {
        #expect(!lines(StatusFixture.facts()).contains { $0.hasPrefix("jobs held") })
        let text = lines(
            StatusFixture.facts {
                $0.activity.queues += [
                    .init(name: "apns.q.retry.hold.1h", ready: 0),
                    .init(
                        name: "apns.q.retry.hold.6h", ready: 1_200, bytes: 300 << 20,
                        settings: ["max-length-bytes": .integer(2 << 30)]),
                    .init(name: "apns.q.retry.hold.2s", ready: nil, bytes: nil),
                ]
            }, width: 120)
        let line =
            "jobs held until their time: 1 200 in apns.q.retry.hold.6h (300 MiB of 2 048 MiB), "
            + "? in apns.q.retry.hold.2s (?)"
        #expect(text.contains(line), "\(text)")
    }

    @Test("What the broker does not tell is called unknown, and not nothing")
    func unknown() {
        var facts = StatusFixture.facts(reports: [])
        for index in facts.activity.queues.indices {
            facts.activity.queues[index].ready = nil
            facts.activity.queues[index].consumers = nil
        }
        let way = ForeignWay(object: "exchange events", detail: "", exchange: "events", remedies: [])
        facts.objects = .init(foreignWays: [way], knowsTrusted: false)
        let text = lines(facts).joined(separator: " ").replacing("   ", with: " ")
        #expect(text.contains("unknown, because the broker has taken no") && !text.contains("hold nothing"), "\(text)")
        #expect(text.contains(" more are not counted (--all)") && text.contains("? in apns.q.dead"), "\(text)")
        #expect(text.contains("exchanges of others that lead jobs in: events;"), "\(text)")
    }

    @Test("Advice comes before the tables, and what was left out of them is counted")
    func crowded() throws {
        let text = lines(Self.crowded)
        let advice = try #require(text.firstIndex(of: "What to do, worst first"))
        let table = try #require(text.firstIndex { $0.hasPrefix("worker ") })
        #expect(advice < table)
        #expect(text.contains("… and 6 more (--all)"), "workers")
        #expect(text.contains("… and 16 more (--all)"), "routes")
        #expect(text.contains { $0.hasPrefix("apns.q.dead: rejected AReasonNumber1 1 000 000,") })
        #expect(
            text.contains { $0.hasSuffix("exhausted ServiceUnavailable") } == false, "a count stays with its reason")
    }

    @Test("Where workers can be asked stands below them: by name, or how many have the same address")
    func adminServers() {
        let usual = ["w-1", "w-2", "w-3"].map { StatusFixture.report($0) { $0.admin = "0.0.0.0:9090" } }
        let chosen = StatusFixture.report("w-4") { $0.admin = "127.0.0.1:45123" }
        let silent = StatusFixture.report("w-5", ago: 60_000) { $0.admin = "127.0.0.1:45124" }
        let text = lines(StatusFixture.facts(reports: usual + [chosen, silent]))
        #expect(text.contains("admin servers: 0.0.0.0:9090 (3 workers), 127.0.0.1:45123 (w-4)"))
        #expect(!lines(StatusFixture.facts()).contains { $0.hasPrefix("admin servers") })
    }

    @Test("Without reports it says why, and that somebody consumes nevertheless")
    func unseen() {
        let none = lines(StatusFixture.facts(reports: []))
        #expect(none.contains("workers: none has reported in the last five minutes; job queues have up to 2"))
        let stopped = StatusFixture.report("w-1", ago: 60_000) { $0.isDraining = true }
        let left = lines(StatusFixture.facts(reports: [stopped]))
        #expect(left.contains { $0.hasPrefix("workers: none; 1 stopped in the last five minutes; job queues") })
        let early = lines(StatusFixture.facts(reports: []) { $0.isCatchingUp = true })
        #expect(early.contains { $0.hasPrefix("workers: not shown yet: reports and commands are still being read") })
        let trouble = lines(StatusFixture.facts(reports: []) { $0.fleetTrouble = "no queue 'apns.q.fleet'" })
        #expect(trouble.contains { $0.hasPrefix("workers: not shown: no queue 'apns.q.fleet'") })
        let nodes = lines(StatusFixture.facts { $0.activity.nodes = nil })
        #expect(nodes.contains("nodes: not shown, because the user does not have the tag monitoring"))
    }

    @Test("Colours are for those who want them, and names from elsewhere cannot command the terminal")
    func colours() {
        let hostile = StatusFixture.facts(reports: [
            StatusFixture.report("w\u{1b}[2J") { $0.reasons = ["\u{1b}]0;owned\u{7}"] }
        ])
        #expect(!lines(hostile).contains { $0.contains("\u{1b}") })
        let coloured = lines(hostile, colour: true)
        #expect(coloured.contains { $0.hasPrefix("\u{1b}[31m") && $0.hasSuffix("\u{1b}[0m") })
        #expect(!coloured.contains { $0.contains("\u{1b}[2J") || $0.contains("\u{1b}]0") })
    }

    @Test(
        "A count fits its column, and a name too long for its own loses its middle",
        arguments: [(0, "0"), (999_999, "999 999"), (12_345_678, "12 345k"), (1_234_567_890, "1 234M")])
    func short(_ count: Int, _ text: String) {
        #expect(StatusText.short(count) == text)
        #expect(StatusText.cut("apns.q.jobs.shop", to: 16) == "apns.q.jobs.shop")
        #expect(StatusText.cut("apns.q.jobs.shop.return", to: 16) == "apns.q.j….return")
    }

    @Test("A screen is drawn over the one before, and what has no room is counted")
    func frame() {
        #expect(
            StatusScreen.frame(["a", "b"], rows: 24, isFirst: true) == "\u{1b}[2J\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\u{1b}[J")
        let frame = StatusScreen.frame((1...30).map(String.init), rows: 10, isFirst: false)
        #expect(frame.hasPrefix("\u{1b}[H1\u{1b}[K\n"))
        #expect(frame.split(separator: "\n").count == 9)
        #expect(frame.hasSuffix("8\u{1b}[K\n… 22 more lines\u{1b}[K\u{1b}[J"))
    }
}
