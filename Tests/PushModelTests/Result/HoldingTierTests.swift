import Testing
import Text

@testable import PushModel

@Suite("Where a job waits whose time has not come", .timeLimit(.minutes(1)))
struct HoldingTierTests {
    private static let now: Int64 = 1_763_712_800_100

    /// The delay of the tier that a policy chooses, in milliseconds; nil where it has none.
    private func delay(_ policy: RetryPolicy, for remaining: Int64, missing: Set<Int> = []) -> Int64? {
        policy.holdingTier(until: Self.now + remaining, now: Self.now, missing: missing)
            .map { policy.delay(of: $0).wholeMilliseconds }
    }

    @Test(
        "the longest tier that is not too long, else the shortest",
        arguments: [
            (30 * 86_400_000, 21_600_000), (21_600_000, 21_600_000), (21_599_999, 3_600_000), (3_600_000, 3_600_000),
            (3_599_999, 1_800_000), (299_999, 60_000), (15_000, 15_000), (14_999, 2_000), (2_000, 2_000),
            (1_999, 2_000), (1, 2_000), (0, 2_000), (-5_000, 2_000),
        ] as [(Int64, Int64)])
    func choice(_ remaining: Int64, _ expected: Int64) {
        #expect(delay(RetryPolicy(), for: remaining) == expected)
    }

    @Test("retries never wait in a holding tier, whatever APNs asks for, and no job waits for its time in a retry tier")
    func retries() {
        let policy = RetryPolicy(tiers: [.seconds(2)])
        #expect(policy.allTiers == [.seconds(2), .seconds(2), .seconds(3_600), .seconds(21_600)])
        #expect((0..<4).map(policy.isHolding) == [false, true, true, true])
        for remaining: Int64 in [0, 2_000, 60_000, 86_400_000] {
            let tier = policy.holdingTier(until: Self.now + remaining, now: Self.now)
            #expect(tier.map(policy.isHolding) == true)
        }
        for attempt in 1...5 {
            let facts = AttemptFacts(attempt: attempt)
            #expect(
                policy.settle(.response(Answer(status: 503)), job: facts, now: Self.now)
                    == .retry(tier: 0, attempt: attempt + 1))
        }
        #expect(policy.restingTier(remaining: .seconds(7_200), job: AttemptFacts(), now: Self.now) == 0)
        #expect(policy.postponingTier(atMost: .seconds(86_400), job: AttemptFacts(), now: Self.now) == 0)
    }

    @Test("a delay that retry tiers and holding tiers have is one of each")
    func same() {
        let policy = RetryPolicy(
            tiers: [.seconds(2), .seconds(3_600)], holdingTiers: [.seconds(3_600), .seconds(7_200)])
        let held: [Duration] = [.seconds(2), .seconds(3_600), .seconds(7_200)]
        #expect(policy.allTiers == [.seconds(2), .seconds(3_600)] + held)
        #expect(policy.holdingTier(until: Self.now + 3_600_000, now: Self.now) == 3)
        #expect(policy.holdingTier(like: 1, missing: []) == 3 && policy.holdingTier(like: 1, missing: [3]) == 1)
    }

    @Test("holding tiers may be shorter than retry tiers, and a broker may lack some of them")
    func mixed() {
        let policy = RetryPolicy(tiers: [.seconds(15), .seconds(3_600)], holdingTiers: [.seconds(1), .seconds(60)])
        let expected: [(Int64, Int64)] = [(500, 1_000), (14_999, 1_000), (15_000, 15_000), (60_000, 60_000)]
        for (remaining, expected) in expected { #expect(delay(policy, for: remaining) == expected) }
        // The holding tiers are 1 s, 15 s, 1 min and 1 h.
        #expect(policy.holdingTiers.map(\.wholeMilliseconds) == [1_000, 15_000, 60_000, 3_600_000])
        #expect(delay(policy, for: 500, missing: [2]) == 15_000)
        #expect(delay(policy, for: 60_000, missing: [4]) == 15_000)
        #expect(RetryPolicy(tiers: [], holdingTiers: []).holdingTier(until: Self.now + 1, now: Self.now) == nil)
    }

    @Test("a retry tier of the same delay stands in for a holding tier that the broker lacks, else a shorter one")
    func missing() {
        let policy = RetryPolicy()
        let all = Set(5..<12)
        let expected: [(Int64, Int)] = [(86_400_000, 4), (1_800_000, 4), (61_000, 2), (3_000, 0), (1, 0)]
        for (remaining, tier) in expected {
            #expect(policy.holdingTier(until: Self.now + remaining, now: Self.now, missing: all) == tier)
        }
        #expect(policy.holdingTier(until: Self.now + 61_000, now: Self.now, missing: [11]) == 7)
        #expect(delay(policy, for: 86_400_000, missing: [11]) == 3_600_000)
        #expect((5..<12).map { policy.substitute(for: $0) } == [0, 1, 2, 3, 4, 4, 4])
        #expect(RetryPolicy(tiers: [.seconds(60)], holdingTiers: [.seconds(1)]).substitute(for: 1) == 0)
        #expect(RetryPolicy(tiers: []).substitute(for: 0) == nil)
    }

    /// Walks through the tiers until the job is due.
    ///
    /// - Parameters:
    ///   - remaining: How far away its time is, in milliseconds.
    ///   - late: How much longer than its delay each tier takes.
    ///   - missing: Tiers that the broker lacks.
    /// - Returns: How late the job is due, and after how many tiers.
    private func walk(
        _ policy: RetryPolicy, _ remaining: Int64, late: Int64, missing: Set<Int> = []
    ) -> (late: Int64, hops: Int) {
        var (now, hops) = (Self.now, 0)
        let time = Self.now + remaining
        while now < time, hops < 10_000 {
            guard let tier = policy.holdingTier(until: time, now: now, missing: missing) else { break }
            now += policy.delay(of: tier).wholeMilliseconds + late
            hops += 1
        }
        return (now - time, hops)
    }

    @Test("a wait of any length ends no earlier than it should, and at most one shortest tier and one hop later")
    func walks() {
        let policy = RetryPolicy()
        let lengths: [Int64] = [
            1, 999, 2_000, 2_001, 59_999, 3_599_999, 28_799_999, 86_400_000, 30 * 86_400_000 - 1,
        ]
        for remaining in lengths {
            for late: Int64 in [0, 1, 40, 700] {
                let end = walk(policy, remaining, late: late)
                #expect((0..<(2_000 + late)).contains(end.late), "\(remaining), \(late): \(end)")
                #expect(end.hops <= 160, "\(remaining), \(late): \(end)")
            }
            let old = walk(policy, remaining, late: 40, missing: Set(5..<12))
            #expect((0..<2_040).contains(old.late), "\(remaining): \(old)")
        }
    }

    @Test("a clock that is set forth ends the wait, and one that is set back lengthens it")
    func clock() {
        let policy = RetryPolicy()
        let time = Self.now + 7_200_000
        #expect(policy.holdingTier(until: time, now: Self.now) == 10)
        #expect(policy.holdingTier(until: time, now: Self.now + 7_199_000) == 5)
        #expect(policy.holdingTier(until: time, now: Self.now - 86_400_000) == 11)
    }

    @Test("max_age counts from the job's time, also where the job was sent on before that")
    func age() throws {
        let day: Int64 = 86_400_000
        func facts(_ notBefore: Int64?, firstAttemptAt: Int64?) throws -> AttemptFacts {
            let job = try MessageBuilder.raw {
                if let notBefore { $0.headers.append(("x-apns-not-before", .integer(notBefore))) }
                $0.way = .returned
                $0.headers.append(("x-apns-v", .integer(1)))
                if let firstAttemptAt { $0.headers.append(("x-apns-first-attempt-at", .integer(firstAttemptAt))) }
            }.job()
            return AttemptFacts(job)
        }
        #expect(try facts(nil, firstAttemptAt: Self.now - day).firstAttemptAt == Self.now - day)
        #expect(try facts(Self.now, firstAttemptAt: nil).firstAttemptAt == nil)
        #expect(try facts(Self.now - 1_000, firstAttemptAt: Self.now - day).firstAttemptAt == Self.now - 1_000)
        #expect(try facts(Self.now - day, firstAttemptAt: Self.now - 1_000).firstAttemptAt == Self.now - 1_000)
        // The first attempt of a job that was let wait for a day is followed by others.
        let waited = try facts(Self.now - 1_000, firstAttemptAt: Self.now - day)
        #expect(
            RetryPolicy().settle(.response(Answer(status: 503)), job: waited, now: Self.now)
                == .retry(tier: 1, attempt: 2))
    }
}
