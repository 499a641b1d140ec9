import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about results that say hold", .timeLimit(.minutes(1)))
struct DeadTokenPageTests {
    private let text: String

    init() throws { text = try Page(documentation: "Results").text(of: "When results say hold") }

    /// Whether one more dead device token begins a hold.
    private static func begins(latest: Double, usual: Double) -> Bool {
        var watch = DeadTokenWatch(from: DeadTokenKnowledge(answers: 10_000, latest: latest, usual: usual))
        watch.answered(isDeadToken: true, inFlight: 0)
        return watch.isSuspicious
    }

    /// Whether one more live device token ends a hold.
    private static func ends(latest: Double, usual: Double) -> Bool {
        var watch = DeadTokenWatch(
            from: DeadTokenKnowledge(answers: 10_000, latest: latest, usual: usual, holds: true))
        watch.answered(isDeadToken: false, inFlight: 0)
        return !watch.isSuspicious
    }

    @Test("Results says at which shares of dead device tokens a hold begins and ends")
    func shares() {
        #expect(DeadTokenWatch.firstLimit == 1.0 / 2 && DeadTokenWatch.clearMajority == 1.0 / 3)
        #expect(text.contains("Once at least half of the route's latest answers call a device token"))
        #expect(text.contains("That ends when at most a third of them do."))
    }

    @Test("Results says how many answers a worker looks at, and how many it needs to judge")
    func answers() {
        let latest = Int(DeadTokenWatch.latest)
        #expect(text.contains("means about \(latest) answers, and one more for each request of the route"))
        let least = DeadTokenWatch.minimumAnswers
        #expect(text.contains("A worker needs \(least) answers to judge, and each running worker judges alone."))
        #expect(text.contains("say `drop_token`: about \(least) on a quiet route, and more on a busy one."))
    }

    @Test("Results says which limit a route has whose device tokens are often dead")
    func usual() throws {
        let sentence = /if (\d+) % of its answers usually call a device token dead, `hold` begins at (\d+) %\./
        let match = try #require(text.firstMatch(of: sentence))
        let shares = [match.output.1, match.output.2].compactMap { Double($0) }.map { $0 / 100 }
        try #require(shares.count == 2)
        #expect(Self.begins(latest: shares[1], usual: shares[0]))
        // One more answer of the latest changes the share by less than this.
        #expect(!Self.begins(latest: shares[1] - 0.01, usual: shares[0]))
        let ending = /It ends a tenth above the usual share, in this example at (\d+) %,/
        let end = try #require(text.firstMatch(of: ending))
        #expect(text.contains("but not below a third and not above 75 %."))
        #expect(Self.ends(latest: 0.75, usual: 0.8) && !Self.ends(latest: 0.77, usual: 0.8))
        let share = try #require(Double(end.output.1)) / 100
        #expect(Self.ends(latest: share, usual: shares[0]) && !Self.ends(latest: share + 0.02, usual: shares[0]))
        let highest = Int((DeadTokenWatch.highestLimit * 100).rounded())
        #expect(text.contains("It never needs more than \(highest) %."))
        #expect(DeadTokenWatch.latest * DeadTokenWatch.history > 2_000)
        #expect(text.contains("It learns the usual share from thousands of answers, and nothing during a hold."))
    }
}
