import Testing

@testable import PushModel

@Suite("Where notifications wait that operators hold", .timeLimit(.minutes(1)))
struct RetryPolicyPauseTests {
    private static let now: Int64 = 1_763_712_800_000
    private let policy = RetryPolicy()

    @Test(
        "In the longest tier that ends within the pause, at least the shortest",
        arguments: [
            (0, 0), (1, 0), (2, 0), (14, 0), (15, 1), (59, 1), (60, 2), (299, 2), (300, 3), (1_800, 4), (86_400, 4),
        ])
    func tiers(seconds: Int, tier: Int) {
        #expect(policy.pause(for: .seconds(seconds), job: AttemptFacts(), now: Self.now) == .tier(tier))
    }

    @Test("In the longest of all while no end is known, however old the job is and whatever its expiration")
    func endless() {
        #expect(policy.pause(for: nil, job: AttemptFacts(), now: Self.now) == .tier(4))
        let old = AttemptFacts(attempt: 6, firstAttemptAt: Self.now - 86_400_000)
        #expect(policy.pause(for: nil, job: old, now: Self.now) == .tier(4))
        #expect(policy.pause(for: nil, job: AttemptFacts(expiration: 0), now: Self.now) == .tier(4))
    }

    @Test("No longer than its own time, and nowhere if that ends before the shortest tier")
    func deadlines() {
        func pause(deadlineIn seconds: Int64) -> RetryPolicy.Pause {
            policy.pause(for: nil, job: AttemptFacts(deadline: Self.now + seconds * 1_000), now: Self.now)
        }
        #expect(pause(deadlineIn: 100) == .tier(2))
        #expect(pause(deadlineIn: 2) == .tier(0))
        guard case .over(let report) = pause(deadlineIn: 1) else {
            Issue.record("it waits")
            return
        }
        #expect(report.outcome == .expired && report.reason == .deadlinePassed && report.action == .none)
        let expiring = AttemptFacts(expiration: Self.now / 1_000 + 1)
        guard case .over(let expired) = policy.pause(for: nil, job: expiring, now: Self.now) else {
            Issue.record("it waits")
            return
        }
        #expect(expired.outcome == .expired && expired.reason == .expirationPassed)
    }

    @Test("Nowhere without a tier")
    func noTier() {
        guard case .over(let report) = RetryPolicy(tiers: []).pause(for: nil, job: AttemptFacts(), now: Self.now) else {
            Issue.record("it waits")
            return
        }
        #expect(report.outcome == .exhausted && report.action == .replay)
    }
}
