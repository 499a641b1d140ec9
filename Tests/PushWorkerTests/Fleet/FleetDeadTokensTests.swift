import Testing

@testable import PushWorker

@Suite("What the fleet's reports say of dead tokens", .timeLimit(.minutes(1)))
struct FleetDeadTokensTests {
    private static let held = DeadTokenKnowledge(answers: 500, latest: 1, usual: 0.02, holds: true)
    private static let good = DeadTokenKnowledge(answers: 500, latest: 0.01, usual: 0.02)

    private func report(
        _ instance: String, startedAt: Int64 = 5, _ routes: [String: DeadTokenKnowledge?], isDraining: Bool = false
    ) -> WorkerReport {
        WorkerReport(
            instance: instance, program: "1", startedAt: startedAt, sentAt: 6, isDraining: isDraining,
            routes: routes.map { WorkerReport.Route(name: $0.key, state: "ready", deadTokens: $0.value) })
    }

    private func fleet(_ reports: [WorkerReport?]) -> FleetDeadTokens {
        var fleet = FleetDeadTokens(routes: ["shop", "chat"])
        for report in reports { fleet.heard(report) }
        return fleet
    }

    @Test("A new worker holds the route that others hold, and not its neighbour")
    func holds() {
        let fleet = fleet([
            report("w-1", ["shop": Self.held, "chat": Self.good]), report("w-2", ["shop": Self.held]),
        ])
        #expect(fleet.held == ["shop"] && fleet.workerCount == 2)
        #expect(fleet.knowledge(ofRoute: "shop")?.holds == true)
        #expect(fleet.knowledge(ofRoute: "chat") == DeadTokenKnowledge(answers: 64, latest: 0.01, usual: 0.02))
    }

    @Test("The newest report of each worker counts, and the last one of a worker that stopped")
    func newest() {
        #expect(fleet([report("w-1", ["shop": Self.held]), report("w-1", ["shop": Self.good])]).held == [])
        #expect(fleet([report("w-1", ["shop": Self.good]), report("w-1", ["shop": Self.held])]).held == ["shop"])
        #expect(fleet([report("w-1", ["shop": Self.held], isDraining: true)]).held == ["shop"])
        let renamed = fleet([
            report("w-1", startedAt: 9, ["shop": Self.good]), report("w-1", startedAt: 5, ["shop": Self.held]),
        ])
        #expect(renamed.held == [], "an earlier worker's last report came late")
    }

    @Test("Reports without this say nothing, as those of earlier versions do; neither do other routes")
    func nothing() {
        let fleet = fleet([report("w-1", ["shop": nil]), report("w-2", ["other": Self.held]), report("w-3", [:])])
        #expect(fleet.knowledge(ofRoute: "shop") == nil && fleet.knowledge(ofRoute: "other") == nil)
        #expect(fleet.held == [] && fleet.workerCount == 3 && fleet.ignored == 0)
    }

    @Test("What is not a report is counted, and so are reports of too many workers")
    func limits() {
        var fleet = fleet([nil, nil])
        for number in 0..<FleetDeadTokens.mostWorkers + 7 { fleet.heard(report("w-\(number)", ["shop": Self.good])) }
        #expect(fleet.workerCount == FleetDeadTokens.mostWorkers && fleet.ignored == 9)
        fleet.heard(report("w-0", ["shop": Self.held]))
        #expect(fleet.ignored == 9, "known ones are still heard")
    }
}
