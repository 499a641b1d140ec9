import PushWorker
import Testing

@Suite("Patience with confirms", .timeLimit(.minutes(1)))
struct ConfirmPatienceTests {
    private static let usual = ConfirmPatience.usual

    private func runsOut(_ patience: inout ConfirmPatience, oldest: UInt64?, now: UInt64, _ expected: Bool) {
        let isOver = patience.runsOut(oldest: oldest, now: now)
        #expect(isOver == expected, "oldest \(oldest ?? 0), now \(now)")
    }

    @Test("it counts from the oldest publication without a confirm, and from nothing while there is none")
    func oldest() {
        var patience = ConfirmPatience()
        #expect(patience.due(oldest: nil) == nil)
        #expect(patience.due(oldest: 7) == 7 + Self.usual)
        runsOut(&patience, oldest: nil, now: .max / 2, false)
        runsOut(&patience, oldest: 7, now: 6 + Self.usual, false)
        runsOut(&patience, oldest: 7, now: 7 + Self.usual, true)
    }

    @Test("a broker that says it does not read is not expected to confirm until it reads again")
    func excused() {
        var patience = ConfirmPatience()
        patience.excused(now: 100 * Self.usual)
        runsOut(&patience, oldest: 0, now: 101 * Self.usual - 1, false)
        runsOut(&patience, oldest: 0, now: 101 * Self.usual, true)
    }

    @Test("it doubles up to sixteenfold while nothing helps, and is the usual one after ten quiet minutes")
    func doubles() {
        var patience = ConfirmPatience()
        var now: UInt64 = 1
        for factor in [1, 2, 4, 8, 16, 16, 16] as [UInt64] {
            let oldest = now
            #expect(patience.due(oldest: oldest) == oldest + factor * Self.usual)
            now += factor * Self.usual
            runsOut(&patience, oldest: oldest, now: now, true)
        }
        now += 600_000_000_000 + 16 * Self.usual
        runsOut(&patience, oldest: now, now: now, false)
        #expect(patience.due(oldest: now) == now + Self.usual)
    }
}
