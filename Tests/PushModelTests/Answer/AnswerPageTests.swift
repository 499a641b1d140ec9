import TestSupport
import Testing

@testable import PushModel

@Suite("The pages about answers", .timeLimit(.minutes(1)))
struct AnswerPageTests {
    private static let policy = RetryPolicy()

    /// What a settlement is in the words of the page.
    private static func words(_ settlement: Settlement) -> String {
        switch settlement {
        case .report(let final) where final.outcome == .rejected:
            "`\(final.outcome.rawValue)`, `\(final.action.rawValue)`"
        case .report(let final): "`\(final.outcome.rawValue)`"
        case .resend, .resendOnNewConnection: "resend"
        case .retry: "retry"
        case .park: "park"
        }
    }

    private static func settle(_ attempted: Attempted, _ facts: AttemptFacts = AttemptFacts()) -> Settlement {
        policy.settle(attempted, job: facts, now: 1_763_712_800_000)
    }

    private static func words(_ status: Int, _ reason: String?) -> String {
        words(settle(.response(Answer(status: status, reason: reason.map { Reason(rawValue: $0) }))))
    }

    @Test("Answers explains the words of its table, and no other")
    func inShort() throws {
        let rows = try Page(documentation: "Answers").rows("word in the table", in: "In short")
        #expect(Set(rows.map { $0[0] }) == Set(DocumentedReason.Reaction.allCases.map(\.rawValue)))
        for row in rows where row[0].hasPrefix("resend") {
            #expect(RetryPolicy.maximumResends == 3 && row[1].contains("up to three times"))
        }
    }

    @Test("Answers says what an answer leads to that its table does not name")
    func others() throws {
        let statuses = [
            "200": [200], "any": [400, 403, 429, 500], "429, 5xx": [429, 500, 502, 503, 599], "403": [403],
            "others": [301, 400, 404, 410, 418],
        ]
        let rows = try Page(documentation: "Answers").rows("status", in: "Every other answer")
        #expect(Set(rows.map { $0[0] }) == Set(statuses.keys))
        for row in rows {
            let named = Page.quoted(row[1]).map { $0.replacing("…", with: "Something") as String? }
            let reasons = row[1] == "–" ? [nil] : named.isEmpty ? ["Something", nil] : named
            for (status, reason) in (statuses[row[0]] ?? []).flatMap({ status in reasons.map { (status, $0) } }) {
                let words = Self.words(status, reason)
                #expect(row[2].hasPrefix(words), "\(status) \(reason ?? "without a reason"): \(words)")
            }
        }
        for status in [201, 204] { #expect(Self.words(status, nil) == "`accepted`") }
    }

    @Test("Answers says what an answer leads to by who gave it")
    func whoSpeaks() throws {
        let rows = try Page(documentation: "Answers").rows("status", in: "Who speaks")
        let statuses = [
            "200": [200], "other 2xx": [201, 202, 204], "3xx, 4xx": [301, 302, 400, 401, 403, 404, 410],
            "429, 5xx": [429, 500, 502],
        ]
        #expect(rows.count == 7 && Set(rows.map { $0[0] }) == Set(statuses.keys))
        for row in rows {
            let isSigned = row[1].contains("`apns-id`")
            let hasBody = row[1].contains("has a body") || row[1] == "neither"
            for status in statuses[row[0]] ?? [] {
                let speaker = Speaker(
                    status: status, of: .push, isSigned: isSigned, hasReason: false, hasBody: hasBody)
                let settlement = Self.settle(.response(Answer(status: status, speaker: speaker)))
                switch row[2] {
                case let words where words.hasPrefix("retry"): #expect(settlement == .retry(tier: 1, attempt: 2))
                case let words where words.hasPrefix("as without"):
                    #expect(settlement == Self.settle(.unanswered(.deadline)), "\(status)")
                default: #expect(speaker == .apns, "\(status)")
                }
            }
        }
    }

    @Test("Answers says what a missing answer leads to")
    func unanswered() throws {
        let rows = try Page(documentation: "Answers").rows("what happened", in: "No answer").map { $0[1] }
        try #require(rows.count == 4)
        #expect(Self.settle(.unprocessed) == .resend && rows[0].hasPrefix("sends again at once"))
        let most = RetryPolicy.maximumRefusals
        #expect(rows[0].contains("after \(most) times as *retry*"))
        #expect(rows[0].contains("after \(RetryPolicy.maximumLoneRefusals) where it goes out alone"))
        let worn = AttemptFacts(refusals: most)
        #expect(Self.words(Self.settle(.unprocessed, worn)) == "retry")
        let last = AttemptFacts(attempt: Self.policy.maxAttempts, refusals: most)
        guard case .report(let exhausted) = Self.settle(.unprocessed, last) else {
            Issue.record("the last attempt is final")
            return
        }
        #expect(rows[0].hasSuffix("`\(exhausted.outcome.rawValue)`, reason `\(exhausted.reason?.rawValue ?? "")`"))
        #expect(Self.settle(.unanswered(.deadline)) == .retry(tier: 0, attempt: 2))
        let first = Self.policy.tiers[0].components.seconds
        #expect(rows[1].hasPrefix("another attempt after the first tier (\(first) s)"))
        for (row, facts) in [
            (rows[1], AttemptFacts(attempt: Self.policy.maxAttempts)), (rows[2], AttemptFacts(onUnknown: .report)),
        ] {
            guard case .report(let unknown) = Self.settle(.unanswered(.connectionLost), facts) else {
                Issue.record("it is final")
                return
            }
            #expect(row.hasSuffix("`\(unknown.outcome.rawValue)`, reason `\(unknown.reason?.rawValue ?? "")`"))
        }
    }

    @Test("Answers has the tiers, the delays and the limits of retries")
    func retries() throws {
        let text = try Page(documentation: "Answers").text(of: "Retries")
        func words(_ delay: Duration) -> String {
            let seconds = delay.components.seconds
            return seconds < 60 ? "\(seconds) s" : seconds < 3_600 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
        }
        let delays = RetryPolicy.ladder.map(words)
        #expect(
            text.contains(
                "After the first attempt \(delays[0]), after the second \(delays[1]), after the third \(delays[2]), "
                    + "then \(delays[3])."))
        let tiers = Self.policy.tiers.map { words($0).replacing(" ", with: "").replacing("min", with: "m") }
        // The first is named in full.
        let named = Page.quoted(text).prefix(tiers.count).map { String($0.split(separator: ".").last ?? "") }
        #expect(named == tiers)
        #expect(text.contains("At most `retry.max_attempts`, \(Self.policy.maxAttempts) by default."))
        #expect(text.contains("`retry.max_age` after the first one, \(words(Self.policy.maxAge)) by default."))
        let short = try Page(documentation: "Answers").rows("word in the table", in: "In short")
        let retry = try #require(short.first { $0[0] == "retry" })
        #expect(retry[1].hasPrefix("another attempt after \(delays.joined(separator: ", "));"))
    }

    @Test("Answers lists Apple's reasons about broadcast channels, with what they lead to")
    func broadcastChannels() throws {
        let rows = try Page(documentation: "Answers").rows("reason", in: "Broadcast channels")
        let listed = rows.filter { $0[0].hasPrefix("`") }
        let statuses = Dictionary(BroadcastChannelReasonTests.finals.map { ($0.1.rawValue, $0.0) }) { $1 }
            .merging(["TooManyRequests": 429, "InternalServerError": 500, "Service Unavailable": 503]) { $1 }
        let names = listed.flatMap { Page.quoted($0[0]) }
        for (row, name) in zip(listed, names) {
            let status = try #require(statuses[name], "\(name)")
            #expect(Self.words(status, name) == row[1], "\(name)")
        }
        // The others mean the same as in answers to pushes.
        let table = Set(DocumentedReason.all.map(\.name))
        #expect(Set(statuses.keys).subtracting(names).subtracting(table) == [])
    }

    @Test("Credentials says which answers refuse the credential, for one route or for all that share it")
    func refusals() throws {
        let rows = try Page(documentation: "Credentials").rows("answer", in: "When APNs refuses one")
        let reasons = rows.map { Page.quoted($0[0]) }
        try #require(reasons.count == 4)
        func names(_ matches: (AnswerMeaning) -> Bool) -> Set<String> {
            let meant = DocumentedReason.all.filter {
                matches(AnswerMeaning(status: $0.status, reason: Reason(rawValue: $0.name)))
            }
            // Both spellings of one reason stand there as one.
            return Set(meant.map { $0.name.hasPrefix("BadEnvironmentKey") ? "BadEnvironmentKey…" : $0.name })
        }
        #expect(Set(reasons[0]) == names { $0.credential == .refused(.everyRoute) })
        #expect(Set(reasons[1]) == names { $0.credential == .refused(.oneRoute) })
        #expect(Set(reasons[2]) == names { $0.notification == .resend(lastly: .park) })
        #expect(RetryPolicy.maximumResends == 3 && rows[2][1].hasPrefix("three times a new connection"))
        #expect(Set(reasons[3]) == names { $0.credential == .tokenChangedTooOften })
    }
}
