import PushWorker
import Testing
import Text

@Suite("The share of dead tokens", .timeLimit(.minutes(1)))
struct DeadTokenWatchTests {
    /// Answers of which a share calls the token dead, in a random order that is always the same.
    private struct Answers {
        private var random = SplitMix64(seed: 7)

        /// Gives them to a watch.
        ///
        /// - Returns: After how many of the answers with a dead token the watch was suspicious.
        mutating func give(_ count: Int, dead share: Double, to watch: inout DeadTokenWatch) -> Int {
            var held = 0
            for _ in 0..<count {
                let isDead = Double.random(in: 0..<1, using: &random) < share
                watch.answered(isDeadToken: isDead, inFlight: 0)
                if isDead, watch.isSuspicious { held += 1 }
            }
            return held
        }
    }

    @Test("A jump to mostly dead tokens is suspicious from the fiftieth answer on, and no longer when it is over")
    func jump() {
        var watch = DeadTokenWatch()
        for _ in 1..<DeadTokenWatch.minimumAnswers {
            watch.answered(isDeadToken: true, inFlight: 0)
            #expect(!watch.isSuspicious)
        }
        watch.answered(isDeadToken: true, inFlight: 0)
        #expect(watch.isSuspicious)
        for _ in 0..<100 { watch.answered(isDeadToken: false, inFlight: 0) }
        #expect(!watch.isSuspicious)
    }

    @Test("After years of good answers a wrong environment is noticed within a hundred")
    func lateJump() {
        var watch = DeadTokenWatch()
        for number in 0..<100_000 { watch.answered(isDeadToken: number % 50 == 0, inFlight: 0) }
        #expect(!watch.isSuspicious)
        var noticed: Int?
        for number in 1...100 where noticed == nil {
            watch.answered(isDeadToken: true, inFlight: 0)
            if watch.isSuspicious { noticed = number }
        }
        #expect(noticed != nil)
    }

    @Test("A wrong environment stays suspicious for as long as it lasts", arguments: [0, 1_000, 100_000])
    func lasting(good: Int) {
        var watch = DeadTokenWatch()
        for _ in 0..<good { watch.answered(isDeadToken: false, inFlight: 0) }
        var kept = 0
        for _ in 0..<100_000 {
            watch.answered(isDeadToken: true, inFlight: 0)
            if watch.isSuspicious { kept += 1 }
        }
        #expect(kept > 100_000 - 64)
    }

    @Test("A few live tokens among the dead ones do not end a hold")
    func fewLive() {
        var (watch, answers) = (DeadTokenWatch(), Answers())
        _ = answers.give(1_000, dead: 1, to: &watch)
        #expect(answers.give(100_000, dead: 0.6, to: &watch) > 59_000)
    }

    @Test("An honest list with a third of dead tokens is never suspicious", arguments: [0.02, 0.1, 0.3])
    func honest(share: Double) {
        var (watch, answers) = (DeadTokenWatch(), Answers())
        #expect(answers.give(100_000, dead: share, to: &watch) == 0)
    }

    @Test("In which order the answers of one window come does not matter", arguments: [100, 1_000, 4_000])
    func bunches(inFlight: Int) {
        var watch = DeadTokenWatch()
        var held = 0
        for _ in 0..<20 {
            for number in 0..<inFlight {
                let isDead = number * 10 >= inFlight * 7
                watch.answered(isDeadToken: isDead, inFlight: inFlight - number)
                if isDead, watch.isSuspicious { held += 1 }
            }
        }
        #expect(held == 0)
        for _ in 0..<inFlight + 100 { watch.answered(isDeadToken: true, inFlight: inFlight) }
        #expect(watch.isSuspicious)
    }

    @Test("A token base that dies slowly is hardly ever suspicious, but a wrong environment after that is")
    func drift() {
        var (watch, answers) = (DeadTokenWatch(), Answers())
        var held = 0
        for step in 0..<60 { held += answers.give(5_000, dead: Double(step) / 100, to: &watch) }
        #expect(held < 100)
        #expect(answers.give(10_000, dead: 1, to: &watch) > 9_900)
        // It is over: the route's usual share ends the hold.
        _ = answers.give(200, dead: 0.59, to: &watch)
        #expect(answers.give(10_000, dead: 0.59, to: &watch) < 100)
    }

    @Test("A worker that begins with mostly dead tokens keeps them, however long it lasts")
    func fromTheStart() {
        var (watch, answers) = (DeadTokenWatch(), Answers())
        _ = answers.give(200, dead: 0.67, to: &watch)
        #expect(answers.give(10_000, dead: 0.67, to: &watch) > 6_400)
    }

    // MARK: Where others are

    @Test("A watch that begins with a hold keeps the first dead token, and goes on until most tokens are alive")
    func begunHolding() {
        var (watch, answers) = (
            DeadTokenWatch(from: DeadTokenKnowledge(answers: 64, latest: 1, usual: 0.02, holds: true)), Answers()
        )
        #expect(watch.isSuspicious)
        watch.answered(isDeadToken: false, inFlight: 0)
        #expect(answers.give(1_000, dead: 1, to: &watch) == 1_000)
        for _ in 0..<100 { watch.answered(isDeadToken: false, inFlight: 0) }
        #expect(!watch.isSuspicious)
    }

    @Test("A watch that begins with another's usual share has that route's limits at once")
    func begunUsual() {
        var (watch, answers) = (
            DeadTokenWatch(from: DeadTokenKnowledge(answers: 64, latest: 0.4, usual: 0.4)), Answers()
        )
        #expect(answers.give(10_000, dead: 0.5, to: &watch) == 0)
        #expect(answers.give(1_000, dead: 1, to: &watch) > 900)
    }

    @Test("A watch that begins from few answers still needs as many as any other to hold")
    func begunFew() {
        var watch = DeadTokenWatch(from: DeadTokenKnowledge(answers: 3, latest: 1, usual: 0.01))
        for _ in 4..<DeadTokenWatch.minimumAnswers {
            watch.answered(isDeadToken: true, inFlight: 0)
            #expect(!watch.isSuspicious)
        }
        watch.answered(isDeadToken: true, inFlight: 0)
        #expect(watch.isSuspicious)
    }

    @Test("A watch that begins with trust lets dead tokens pass until most are alive, and judges anew from then on")
    func begunTrusted() {
        var (watch, answers) = (
            DeadTokenWatch(from: DeadTokenKnowledge(answers: 64, latest: 1, usual: 0.02, isTrusted: true)), Answers()
        )
        #expect(answers.give(1_000, dead: 1, to: &watch) == 0)
        _ = answers.give(200, dead: 0, to: &watch)
        #expect(answers.give(1_000, dead: 1, to: &watch) > 900)
    }

    @Test("What it knows is nothing at first, and its own answers are counted apart from those of others")
    func knowledge() throws {
        var watch = DeadTokenWatch()
        #expect(watch.knowledge == nil)
        for _ in 0..<100 { watch.answered(isDeadToken: true, inFlight: 0) }
        let known = try #require(watch.knowledge)
        #expect(known.answers == 100 && known.latest == 1 && known.holds && !known.isTrusted)
        #expect((0.005..<0.02).contains(known.usual), "\(known.usual)")
        var next = DeadTokenWatch(from: known)
        #expect(next.knowledge == DeadTokenKnowledge(answers: 0, latest: 1, usual: known.usual, holds: true))
        next.answered(isDeadToken: true, inFlight: 0)
        #expect(next.knowledge?.answers == 1)
        watch.trust()
        #expect(watch.knowledge?.holds == false && watch.knowledge?.isTrusted == true)
    }
}
