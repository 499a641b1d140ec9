import Simulation
import Testing

@Suite("Whole systems under seeds", .timeLimit(.minutes(5)))
struct WorldTests {
    /// Seeds that are tried with every commit, each with the reason why it is kept.
    static let kept: [UInt64] = [
        // RabbitMQ 3.10, with kills, cuts, restarts, pauses and alarms.
        3,
        // A world that only kills workers and cuts connections: it showed that a signature's length decided.
        8,
    ]

    @Test("every confirmed notification has a result, and none is pushed twice without a reason", arguments: kept)
    func promises(_ seed: UInt64) throws {
        let report = try Simulation(seed: seed).run()
        #expect(report.jobs > 100 && report.results >= report.jobs && report.faults > 0)
    }

    @Test("a seed decides everything: a second run does the same")
    func repeats() throws {
        let reports = try (0..<2).map { _ in try Simulation(seed: 8).run() }
        #expect(reports[0].digest == reports[1].digest && reports[0].turns == reports[1].turns)
    }
}
