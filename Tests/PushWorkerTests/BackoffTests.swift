import PushWorker
import Testing

@Suite("Backoff", .timeLimit(.minutes(1)))
struct BackoffTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("waits are drawn from the whole of a bound that doubles up to the cap")
    func bounds() {
        var random = SplitMix64(seed: 7)
        var least = [UInt64](repeating: .max, count: 12)
        var most = [UInt64](repeating: 0, count: 12)
        for _ in 0..<2_000 {
            var backoff = Backoff.publication
            for failure in 0..<12 {
                let wait = backoff.next(using: &random)
                least[failure] = min(least[failure], wait)
                most[failure] = max(most[failure], wait)
            }
        }
        for failure in 0..<12 {
            let bound = min(4 * Self.second, (Self.second / 10) << UInt64(failure))
            #expect(most[failure] <= bound && most[failure] > bound / 10 * 9)
            #expect(least[failure] >= bound / 20 && least[failure] < bound / 10)
        }
    }

    @Test(
        "only what lasted ten seconds lets the waits begin anew",
        arguments: [(0, false), (9_999_999_999, false), (10_000_000_000, true)] as [(UInt64, Bool)])
    func reset(lifetime: UInt64, begins: Bool) {
        var backoff = Backoff.publication
        var random = SplitMix64(seed: 7)
        for _ in 0..<10 { _ = backoff.next(using: &random) }
        backoff.ended(after: lifetime)
        #expect(backoff.failures == (begins ? 0 : 10))
    }

    @Test("where everybody lost the broker at once, the first wait is drawn from four seconds already")
    func crowded() {
        var random = SplitMix64(seed: 7)
        let waits = (0..<200).map { _ in
            var backoff = Backoff.broker
            backoff.crowded()
            return backoff.next(using: &random)
        }
        #expect(waits.contains { $0 > 3 * Self.second })
    }

    /// How long after the return of a broker that was away for a minute a link connects.
    private func returns(_ random: inout SplitMix64) -> UInt64 {
        var backoff = Backoff.broker
        var time: UInt64 = 0
        while time < 60 * Self.second { time += backoff.next(using: &random) }
        return time - 60 * Self.second
    }

    @Test("the thousand connections of 500 workers come back over more than ten seconds, and all within a minute")
    func crowd() {
        var random = SplitMix64(seed: 7)
        var wide = 0
        for _ in 0..<100 {
            let times = (0..<1_000).map { _ in returns(&random) }
            let (first, last) = (times.min() ?? 0, times.max() ?? 0)
            if last - first >= 10 * Self.second { wide += 1 }
            #expect(last < 40 * Self.second)
        }
        #expect(wide >= 95, "of 100")
    }

    @Test("both connections of a single worker are back within 4.5 seconds, as the median of five")
    func single() {
        var random = SplitMix64(seed: 7)
        var quick = 0
        for _ in 0..<1_000 {
            let both = (0..<5).map { _ in max(returns(&random), returns(&random)) }.sorted()
            if both[2] <= 4_500_000_000 { quick += 1 }
        }
        #expect(quick >= 930, "of 1,000")
    }
}
