import PushWorker
import Testing

@Suite("The share of dead tokens", .timeLimit(.minutes(1)))
struct DeadTokenWatchTests {
    @Test("A jump to mostly dead tokens is suspicious from the fiftieth answer on, and no longer when it is over")
    func jump() {
        var watch = DeadTokenWatch()
        for _ in 1..<DeadTokenWatch.minimumAnswers {
            watch.answered(isDeadToken: true)
            #expect(!watch.isSuspicious)
        }
        watch.answered(isDeadToken: true)
        #expect(watch.isSuspicious)
        for _ in 0..<100 { watch.answered(isDeadToken: false) }
        #expect(!watch.isSuspicious)
    }

    @Test("After years of good answers a wrong environment is noticed within a hundred")
    func lateJump() {
        var watch = DeadTokenWatch()
        for number in 0..<100_000 { watch.answered(isDeadToken: number % 50 == 0) }
        #expect(!watch.isSuspicious)
        var noticed: Int?
        for number in 1...100 where noticed == nil {
            watch.answered(isDeadToken: true)
            if watch.isSuspicious { noticed = number }
        }
        #expect(noticed != nil)
    }

    @Test("A token base that is mostly dead as usual is not suspicious, nor is one with a few dead tokens")
    func usual() {
        for share in [2, 20] {
            var watch = DeadTokenWatch()
            for number in 0..<40_000 {
                watch.answered(isDeadToken: number % share == 0 || share == 2 && number % 3 == 0)
            }
            #expect(!watch.isSuspicious, "one in \(share)")
        }
    }
}
