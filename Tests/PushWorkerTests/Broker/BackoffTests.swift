import EventLoop
import PushWorker
import TestSupport
import Testing
import Text

@Suite("Backoff", .timeLimit(.minutes(1)))
struct BackoffTests {
    @Test("waits are drawn from the whole of a bound that doubles up to the cap")
    func bounds() {
        var random = SplitMix64(seed: 7)
        var least = [Duration](repeating: .seconds(60), count: 12)
        var most = [Duration](repeating: .zero, count: 12)
        for _ in 0..<2_000 {
            var backoff = Backoff.publication
            for failure in 0..<12 {
                let wait = backoff.next(using: &random)
                least[failure] = min(least[failure], wait)
                most[failure] = max(most[failure], wait)
            }
        }
        for failure in 0..<12 {
            let bound = min(.seconds(4), .milliseconds(100) * (1 << failure))
            #expect(most[failure] <= bound && most[failure] > bound * 9 / 10)
            #expect(least[failure] >= bound / 20 && least[failure] < bound / 10)
        }
    }

    @Test(
        "only what lasted ten seconds lets the waits begin again",
        arguments: [(.zero, false), (.nanoseconds(9_999_999_999), false), (.seconds(10), true)] as [(Duration, Bool)])
    func reset(lifetime: Duration, begins: Bool) {
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
        #expect(waits.contains { $0 > .seconds(3) })
    }

    @Test("a worker that is late tries soon at first, waits up to 24 seconds later, and is so for one outage only")
    func late() {
        var random = SplitMix64(seed: 7)
        var longest = [Duration](repeating: .zero, count: 8)
        for _ in 0..<500 {
            var backoff = Backoff.broker
            backoff.lost(after: Backoff.probation, isCrowd: false, isLate: true)
            for failure in longest.indices { longest[failure] = max(longest[failure], backoff.next(using: &random)) }
            backoff.lost(after: Backoff.probation, isCrowd: true, isLate: false)
            #expect(backoff.next(using: &random) <= .seconds(4))
        }
        for (failure, bound) in [1, 2, 4, 8, 16, 32, 48, 48].enumerated() {
            let bound = Duration.milliseconds(500) * bound
            #expect(longest[failure] <= bound && longest[failure] > bound * 9 / 10, "after \(failure)")
        }
    }

    @Test("a worker that is late is so no more once a broker took its connection and was silent")
    func silence() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var backoff = Backoff.broker
            backoff.lost(after: Backoff.probation, isCrowd: true, isLate: true)
            _ = backoff.next(using: &random)
            backoff.metSilence()
            #expect(backoff.next(using: &random) <= .seconds(4))
        }
    }

    @Test("once the first wait has told workers apart, their waits for the broker are nearly equal")
    func steady() {
        var random = SplitMix64(seed: 7)
        for isCrowd in [false, true] {
            var (firsts, later): ([Duration], [Duration]) = ([], [])
            for _ in 0..<200 {
                var backoff = Backoff.broker
                backoff.lost(after: Backoff.probation, isCrowd: isCrowd, isLate: false)
                if !isCrowd { for _ in 0..<3 { _ = backoff.next(using: &random) } }
                firsts.append(backoff.next(using: &random))
                later += (0..<5).map { _ in backoff.next(using: &random) }
            }
            #expect(later.allSatisfy { $0 >= .seconds(3) && $0 <= .seconds(4) })
            #expect(firsts.contains { $0 < .seconds(1) } && firsts.contains { $0 > .seconds(3) })
        }
    }

    @Test("a worker draws once per outage whether it is late, however many lanes ask, and anew for the next")
    func outages() {
        var random = SplitMix64(seed: 7)
        var draw = OutageDraw()
        var late = 0
        for outage in 1...32_000 {
            let start = MonotonicTime(nanoseconds: 0) + OutageDraw.span * outage
            let isLate = draw.isLate(now: start, using: &random)
            if isLate { late += 1 }
            for lane in [.nanoseconds(1), OutageDraw.span - .nanoseconds(1)] as [Duration] {
                let same = draw.isLate(now: start + lane, using: &random)
                #expect(same == isLate)
            }
            let same = draw.isLate(now: MonotonicTime(nanoseconds: start.nanoseconds - 1), using: &random)
            #expect(same == isLate, "a lane whose turn began earlier")
        }
        #expect((900...1_100).contains(late), "\(late) of 32,000, one in \(OutageDraw.share)")
    }

    /// An outage as a fleet sees it.
    struct Outage: CustomTestStringConvertible {
        /// How long the broker takes no connections.
        var length: Duration
        /// Whether it said so when it closed them.
        var isCrowd: Bool
        var testDescription: String { "\(length), \(isCrowd ? "announced" : "unannounced")" }
    }

    /// When the lanes of one worker connect, counted from the broker's return: the publishing connection tries
    /// by its backoff, and the consuming one follows it at once.
    private func returns(lanes: Int = 1, from outage: Outage, _ random: inout SplitMix64) -> [Duration] {
        var draw = OutageDraw()
        return (0..<lanes).map { lane in
            var backoff = Backoff.broker
            backoff.lost(
                after: Backoff.probation, isCrowd: outage.isCrowd,
                isLate: draw.isLate(now: MonotonicTime(nanoseconds: UInt64(lane)), using: &random))
            var time = Duration.zero
            while time < outage.length { time += backoff.next(using: &random) }
            return time - outage.length
        }
    }

    @Test(
        "500 workers come back over more than ten seconds and within a half minute, never most of them in one second",
        arguments: [1, 5, 20, 60].map { Outage(length: .seconds($0), isCrowd: true) } + [
            Outage(length: .seconds(20), isCrowd: false), Outage(length: .seconds(60), isCrowd: false),
        ])
    func crowd(outage: Outage) {
        var random = SplitMix64(seed: 7)
        var (narrow, busiest) = (0, 0)
        for _ in 0..<50 {
            let times = (0..<500).flatMap { _ in returns(from: outage, &random) }.sorted()
            let (first, last) = (times.first ?? .zero, times.last ?? .zero)
            if last - first < .seconds(10) { narrow += 1 }
            #expect(last < .seconds(25))
            // The busiest second, wherever it begins.
            var start = 0
            for end in times.indices {
                while times[end] - times[start] >= .seconds(1) { start += 1 }
                busiest = max(busiest, end - start + 1)
            }
        }
        #expect(narrow <= 1, "\(narrow) of 50")
        // A quarter each, were they spread evenly over the four seconds of a single worker.
        #expect(busiest <= 225, "\(busiest) of 500 in a second")
    }

    @Test(
        "a single worker is back within five seconds as the median of five outages, but for one go in a thousand",
        arguments: [1, 8], [Outage(length: .seconds(5), isCrowd: true), Outage(length: .seconds(60), isCrowd: false)])
    func single(lanes: Int, outage: Outage) {
        var random = SplitMix64(seed: 7)
        var (late, slow) = (0, 0)
        for _ in 0..<3_000 {
            let ready = (0..<5).map { _ in returns(lanes: lanes, from: outage, &random).max() ?? .zero }.sorted()
            late += ready.count { $0 > .seconds(5) }
            if ready[2] > .seconds(5) { slow += 1 }
        }
        #expect(slow <= 3, "\(slow) of 3,000")
        // What that comes to in the long run does not depend on the few goes in which it happens.
        let share = Double(late) / 15_000
        #expect(10 * share * share * share < 0.000_5, "one outage in \(1 / share) is long")
    }
}
