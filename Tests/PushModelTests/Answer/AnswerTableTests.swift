import Foundation
import Testing

@testable import PushModel

@Suite("What each answer of APNs leads to", .timeLimit(.minutes(1)))
struct AnswerTableTests {
    private static let now: Int64 = 1_763_712_800_000
    private static let policy = RetryPolicy()

    private func settle(_ row: DocumentedReason, _ facts: AttemptFacts, timestamp: Int64? = nil) -> Settlement {
        let answer = Answer(status: row.status, reason: Reason(rawValue: row.name), timestamp: timestamp)
        return Self.policy.settle(.response(answer), job: facts, now: Self.now)
    }

    private func report(_ row: DocumentedReason, _ outcome: Outcome, _ action: Action) -> Settlement {
        .report(FinalReport(outcome, action, status: row.status, reason: Reason(rawValue: row.name)))
    }

    @Test("Every reason that APNs documents has its settlement", arguments: DocumentedReason.all)
    func settlement(row: DocumentedReason) {
        let meaning = AnswerMeaning(status: row.status, reason: Reason(rawValue: row.name))
        let consequence = meaning.connection
        let first = settle(row, AttemptFacts())
        let resent = settle(row, AttemptFacts(resends: RetryPolicy.maximumResends))
        switch row.reaction {
        case .dropToken:
            #expect(first == report(row, .deadToken, .dropToken))
            guard case .report(let held) = settle(row, AttemptFacts(holdsDeadTokens: true), timestamp: 17) else {
                Issue.record("a dead token is final")
                return
            }
            #expect(held.action == .hold)
            #expect(held.tokenInvalidSince == 17)
            #expect(consequence == .keep)
        case .fixTopic:
            #expect(first == report(row, .rejected, .fixTopic))
            #expect(consequence == .keep)
        case .fixRequest:
            #expect(first == report(row, .rejected, .fixRequest))
            #expect(consequence == .keep)
        case .park:
            #expect(first == .park(tier: 1))
            #expect(consequence == .retire)
        case .freshToken, .newConnection:
            #expect(first == .resendOnNewConnection)
            #expect((meaning.credential == .tokenExpired) == (row.reaction == .freshToken))
            #expect(resent == .park(tier: 1))
            #expect(consequence == .retire)
        case .newConnectionThenRetry:
            #expect(first == .resendOnNewConnection)
            #expect(resent == .retry(tier: 1, attempt: 2))
            #expect(consequence == .retire)
        case .retry, .rest:
            let tiers = (1...5).map { settle(row, AttemptFacts(attempt: $0)) }
            #expect(tiers == zip(2..., [1, 2, 3, 4, 4]).map { .retry(tier: $1, attempt: $0) })
            #expect(consequence == (row.reaction == .rest ? .keep : .strike))
        }
        let rests = Self.policy.rest(
            after: Answer(status: row.status, reason: Reason(rawValue: row.name)), attempt: 1)
        #expect((rests != nil) == (row.reaction == .rest))
    }

    @Test("The page's table has a row for each reason, in the same words, and no other")
    func page() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appendingPathComponent("Sources/martlet/Documentation.docc/Answers.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let sections = text.components(separatedBy: "\n## The table\n")
        try #require(sections.count == 2)
        let body = try #require(sections[1].components(separatedBy: "\n## ").first)
        let rows = body.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.dropFirst(2).first?.isNumber == true }
        let expected = DocumentedReason.all.map { "| \($0.status) | `\($0.name)` | \($0.reaction.rawValue) |" }
        #expect(rows.map(String.init) == expected)
    }

    @Test("No documented reason is missing in the table, and none stands there twice")
    func complete() {
        let names = DocumentedReason.all.map(\.name)
        #expect(Set(names).count == names.count)
        // Apple's reasons stand first in the list of those that have a name, ours follow.
        let known = Reason.Known.allCases.prefix { $0 != .ambiguousDeviceToken }.map(\.rawValue)
        // Those of broadcast channels have a table of their own.
        let ofBroadcastChannels = BroadcastChannelReasonTests.finals.map(\.1.rawValue) + ["Service Unavailable"]
        #expect(Set(names).isSubset(of: known))
        #expect(Set(known).subtracting(names).isSubset(of: ofBroadcastChannels))
    }

    @Test(
        "A device token rests as long as its notification waits, no longer than the longest tier",
        arguments: [
            (1, nil, 15_000), (2, nil, 60_000), (4, nil, 1_800_000), (9, nil, 1_800_000), (0, nil, 15_000),
            (1, 7, 7_000), (3, 0, 0), (1, -1, 15_000), (1, Int.max, 1_800_000),
        ] as [(Int, Int?, Int64)])
    func rest(attempt: Int, retryAfter: Int?, milliseconds: Int64) {
        let answer = Answer(status: 429, reason: .tooManyRequests, retryAfter: retryAfter)
        #expect(Self.policy.rest(after: answer, attempt: attempt) == .milliseconds(milliseconds))
        #expect(RetryPolicy(tiers: []).rest(after: answer, attempt: attempt) == nil)
    }

    @Test(
        "What waits for a resting token takes the nearest tier, unless that would be too late: then it is sent",
        arguments: [
            (0, AttemptFacts(), 0), (8_499, AttemptFacts(), 0), (8_500, AttemptFacts(), 1), (14_000, AttemptFacts(), 1),
            (1_000_000, AttemptFacts(), 3), (Int64.max, AttemptFacts(), 4),
            (14_000, AttemptFacts(expiration: 0), nil),
            (14_000, AttemptFacts(deadline: now + 15_000, expiration: 0), 1),
            (14_000, AttemptFacts(deadline: now + 14_999), nil),
            (14_000, AttemptFacts(firstAttemptAt: now - 21_600_000 + 15_000), 1),
            (14_000, AttemptFacts(firstAttemptAt: now - 21_600_000 + 14_999), nil),
            (14_000, AttemptFacts(attempt: 6), 1),
        ] as [(Int64, AttemptFacts, Int?)])
    func restingTier(remaining: Int64, facts: AttemptFacts, tier: Int?) {
        #expect(Self.policy.restingTier(remaining: .milliseconds(remaining), job: facts, now: Self.now) == tier)
    }
}
