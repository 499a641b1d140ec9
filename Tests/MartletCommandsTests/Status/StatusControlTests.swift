import PushWorker
import Testing
import Topology

@testable import MartletCommands

@Suite("What operators asked for, in a status", .timeLimit(.minutes(1)))
struct StatusControlTests {
    private static func command(
        _ action: ControlCommand.Action, _ target: ControlCommand.Target, perSecond: Double? = nil,
        until: Int64? = nil, reason: String? = nil
    ) -> ControlCommand {
        ControlCommand(
            id: "\(action) \(target)", action: action, target: target, author: "anna@ops1",
            issuedAt: StatusFixture.now - 60_000, until: until, reason: reason, perSecond: perSecond)
    }

    private static let pause = command(.pause, .route("shop"), reason: "APNs trouble")

    /// Facts after some commands.
    private static func facts(
        _ commands: [ControlCommand], _ change: (inout StatusFacts) -> Void = { _ in }
    ) -> StatusFacts {
        StatusFixture.facts { facts in
            for command in commands { facts.control.heard(command.json, at: facts.at) }
            change(&facts)
        }
    }

    private static func text(_ facts: StatusFacts) -> [String] {
        StatusText(facts: facts, findings: StatusDiagnosis(facts: facts).findings).lines
    }

    @Test("What stands is shown with who asked, when, until when and why; what is over is not")
    func shown() throws {
        let commands = [
            Self.pause, Self.command(.rate, .route("chat"), perSecond: 500, until: StatusFixture.now + 1_000),
            Self.command(.cancel, .campaign("campaign-7/"), until: StatusFixture.now - 1),
        ]
        let lines = Self.text(Self.facts(commands))
        let head = try #require(lines.firstIndex(of: "asked of all workers"))
        let shown = lines[head...].dropFirst().prefix { !$0.isEmpty }.joined(separator: " ")
        #expect(shown.contains("route shop: paused by anna@ops1 at 2026-11-24T19:19:00Z: APNs trouble"))
        let words = shown.split(separator: " ").joined(separator: " ")
        #expect(words.contains("route chat: held to 500/s for the whole fleet by anna@ops1"), "\(words)")
        #expect(words.contains("until 2026-11-24T19:20:01Z") && !words.contains("campaign"), "\(words)")
        #expect(lines.allSatisfy { $0.count <= StatusText.usualWidth || $0.hasPrefix("      → ") })
    }

    @Test("Where nothing stands nothing is shown, but why it cannot be read is")
    func nothing() {
        #expect(!Self.text(Self.facts([])).contains { $0.contains("asked of all") || $0.contains("commands") })
        let trouble = Self.text(Self.facts([]) { $0.controlTrouble = "no queue 'apns.q.control'" })
        #expect(trouble.contains("commands: not shown: no queue 'apns.q.control'"))
    }

    @Test("The stream itself is not among the queues that are shown")
    func stream() {
        let lines = Self.text(
            Self.facts([]) {
                $0.activity.queues.append(.init(name: "apns.q.control", kind: "stream", leader: nil, ready: 5))
            })
        #expect(!lines.contains { $0.contains("apns.q.control") })
    }

    @Test("Programs get the commands that stand as they are in the stream")
    func json() throws {
        let facts = Self.facts([
            Self.pause, Self.command(.pause, .route("chat")), Self.command(.resume, .route("chat")),
        ])
        let json = try JSON(reading: facts.json([]).bytes)
        let standing = try #require(json["control"]?.elements)
        #expect(standing.map { ControlCommand(parsing: $0.bytes) } == [Self.pause])
        let blind = try JSON(reading: Self.facts([]) { $0.controlTrouble = "away" }.json([]).bytes)
        #expect(blind["control"]?.elements.isEmpty == true && blind["control_trouble"]?.text == "away")
    }

    @Test("Jobs that wait because their route is paused need a person; that nobody takes them does not")
    func pausedRoute() {
        let facts = Self.facts([Self.pause]) {
            $0.queue("apns.q.jobs.shop") { ($0.ready, $0.consumers) = (1_203, 0) }
            $0.queue("apns.q.jobs.shop.return") { ($0.ready, $0.consumers) = (2, 0) }
        }
        #expect(
            StatusDiagnosis(facts: facts).findings == [
                StatusFinding(
                    urgency: .soon, object: "route shop",
                    detail: "1 205 jobs wait: paused by anna@ops1 at 2026-11-24T19:19:00Z: APNs trouble",
                    next: "martlet route resume shop")
            ])
        let idle = Self.facts([Self.pause]) { $0.queue("apns.q.jobs.shop") { $0.consumers = 0 } }
        #expect(StatusDiagnosis(facts: idle).findings == [])
        let resumed = Self.facts([Self.pause, Self.command(.resume, .route("shop"))]) {
            $0.fleet = FleetPicture()
            $0.queue("apns.q.jobs.shop") { ($0.ready, $0.consumers) = (1_203, 0) }
        }
        #expect(StatusDiagnosis(facts: resumed).findings.map(\.urgency) == [.now])
        let respite = Self.command(.resume, .route("shop"), until: StatusFixture.now + 1_000)
        let interrupted = Self.facts([Self.pause, respite]) {
            $0.fleet = FleetPicture()
            $0.queue("apns.q.jobs.shop") { ($0.ready, $0.consumers) = (1_203, 0) }
        }
        #expect(StatusDiagnosis(facts: interrupted).findings.map(\.urgency) == [.now])
    }

    @Test("Jobs that wait long because their route is held to a rate name the rate, and how to end it")
    func pacedRoute() throws {
        let facts = Self.facts([Self.command(.rate, .route("shop"), perSecond: 5)]) {
            $0.queue("apns.q.jobs.shop") { ($0.ready, $0.deliveryRate) = (36_000, 5) }
        }
        let finding = try #require(StatusDiagnosis(facts: facts).findings.first)
        #expect(finding.object == "queue apns.q.jobs.shop" && finding.next == "martlet route rate shop off")
        #expect(finding.detail.contains("The route is held to 5/s for the whole fleet by anna@ops1"))
    }
}
