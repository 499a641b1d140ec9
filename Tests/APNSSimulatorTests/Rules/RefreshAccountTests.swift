import Testing

@testable import APNSSimulator

@Suite("The account of token updates", .timeLimit(.minutes(1)))
struct RefreshAccountTests {
    private func token(_ keyID: String, _ issuedAt: Int64) -> RefreshAccount.Token {
        RefreshAccount.Token(ProviderTokenFacts(keyID: keyID, teamID: "T", issuedAt: issuedAt))
    }

    @Test("Twenty minutes lie between two updates, and the token before stays good")
    func interval() {
        var account = RefreshAccount()
        let steps: [(Int64, Int64, Bool)] = [
            (1, 0, true), (1, 5, true), (2, 1_199_999, false), (2, 1_200_000, true), (1, 1_200_001, true),
            (3, 2_399_999, false), (3, 2_400_000, true), (1, 2_400_001, false), (2, 2_400_001, true),
        ]
        for (issuedAt, now, isGood) in steps {
            #expect(account.admit(token("A", issuedAt), now: now, interval: 1_200_000) == isGood, "\(now)")
        }
    }

    @Test("Another key is another token, and an excuse lasts for one update")
    func excuse() {
        var account = RefreshAccount()
        #expect(account.admit(token("A", 1), now: 0, interval: 100) == true)
        #expect(account.admit(token("B", 1), now: 1, interval: 100) == false)
        #expect(account.isOverdrawn(now: 1, interval: 100))
        account.excuse()
        #expect(account.admit(token("B", 1), now: 2, interval: 100) == true)
        #expect(account.admit(token("C", 1), now: 3, interval: 100) == false)
        #expect(account.isOverdrawn(now: 101, interval: 100))
        #expect(!account.isOverdrawn(now: 102, interval: 100))
        #expect(account.admit(token("C", 1), now: 103, interval: 100) == true)
        #expect(!account.isOverdrawn(now: 104, interval: 100), "a change in time begins anew")
    }
}
