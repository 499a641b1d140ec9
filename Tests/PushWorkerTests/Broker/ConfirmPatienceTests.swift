import EventLoop
import PushWorker
import TestSupport
import Testing

@Suite("Patience with confirms", .timeLimit(.minutes(1)))
struct ConfirmPatienceTests {
    private static let usual = ConfirmPatience.usual

    private func runsOut(
        _ patience: inout ConfirmPatience, oldest: MonotonicTime?, now: MonotonicTime, _ expected: Bool
    ) {
        let isOver = patience.runsOut(oldest: oldest, now: now)
        #expect(isOver == expected, "oldest \(oldest?.nanoseconds ?? 0), now \(now.nanoseconds)")
    }

    @Test("it counts from the oldest publication without a confirm, and from nothing while there is none")
    func oldest() {
        var patience = ConfirmPatience()
        #expect(patience.due(oldest: nil) == nil)
        #expect(patience.due(oldest: 7) == 7 + Self.usual)
        runsOut(&patience, oldest: nil, now: .distantFuture, false)
        runsOut(&patience, oldest: 7, now: 6 + Self.usual, false)
        runsOut(&patience, oldest: 7, now: 7 + Self.usual, true)
    }

    @Test("a broker that says it does not read is not expected to confirm until it reads again")
    func excused() {
        var patience = ConfirmPatience()
        patience.excused(now: 0 + Self.usual * 100)
        runsOut(&patience, oldest: 0, now: 0 + (Self.usual * 101 - .nanoseconds(1)), false)
        runsOut(&patience, oldest: 0, now: 0 + Self.usual * 101, true)
    }

    @Test("it doubles up to sixteenfold while nothing helps, and is the usual one after ten quiet minutes")
    func doubles() {
        var patience = ConfirmPatience()
        var now: MonotonicTime = 1
        for factor in [1, 2, 4, 8, 16, 16, 16] {
            let oldest = now
            #expect(patience.due(oldest: oldest) == oldest + Self.usual * factor)
            now = now + Self.usual * factor
            runsOut(&patience, oldest: oldest, now: now, true)
        }
        now = now + .seconds(600) + Self.usual * 16
        runsOut(&patience, oldest: now, now: now, false)
        #expect(patience.due(oldest: now) == now + Self.usual)
    }
}
