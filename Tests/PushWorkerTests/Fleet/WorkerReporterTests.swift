import Testing

@testable import PushWorker

@Suite("How often workers report, and how much of it a new one reads", .timeLimit(.minutes(1)))
struct WorkerReporterTests {
    @Test(
        "A report that is long, or that many workers read, comes less often, and never later than every ten seconds",
        arguments: [
            (bytes: 0, readers: 0, seconds: 2.0), (4_096, 1, 2), (6_144, 1, 3), (20_480, 1, 10), (1_000_000, 1, 10),
            (1_000, 10, 2), (1_000, 20, 4), (1_000, 50, 10), (1_000, 1_000, 10), (6_144, 20, 4), (12_288, 20, 6),
        ])
    func interval(bytes: Int, readers: Int, seconds: Double) {
        #expect(WorkerReporter.interval(bytes: bytes, readers: readers) == .seconds(seconds))
    }

    @Test(
        "Of many reports a new worker reads about the newest 5,000, and never less than half a minute",
        arguments: [(0, 300), (5_000, 300), (10_000, 150), (15_000, 100), (50_000, 30), (1_000_000, 30)])
    func age(messages: Int, seconds: Int) {
        #expect(DeadTokenLearner.age(ofMessages: messages) == .seconds(seconds))
    }
}
