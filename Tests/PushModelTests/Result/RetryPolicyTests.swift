import Testing

@testable import PushModel

@Suite("The settlement table", .timeLimit(.minutes(1)))
struct RetryPolicyTests {
    static let now: Int64 = 1_763_712_800_000
    static let policy = RetryPolicy()

    static func settle(
        _ status: Int, _ reason: Reason? = nil, retryAfter: Int? = nil, timestamp: Int64? = nil,
        _ facts: AttemptFacts = AttemptFacts(), policy: RetryPolicy = policy
    ) -> Settlement {
        let answer = Answer(status: status, reason: reason, timestamp: timestamp, retryAfter: retryAfter)
        return policy.settle(.response(answer), job: facts, now: now)
    }

    static func settle(_ status: Int, _ facts: AttemptFacts, policy: RetryPolicy = policy) -> Settlement {
        settle(status, nil, facts, policy: policy)
    }

    /// The outcome and action of a report, nil for anything else.
    static func verdict(_ settlement: Settlement) -> (Outcome, Action)? {
        guard case .report(let final) = settlement else { return nil }
        return (final.outcome, final.action)
    }

    // MARK: Final answers

    static let finals: [(Int, Reason, Outcome, Action)] = [
        (410, .unregistered, .deadToken, .dropToken), (410, .expiredToken, .deadToken, .dropToken),
        (400, .badDeviceToken, .deadToken, .dropToken), (400, .deviceTokenNotForTopic, .rejected, .fixTopic),
        (400, .badTopic, .rejected, .fixTopic), (400, .missingTopic, .rejected, .fixTopic),
        (400, .topicDisallowed, .rejected, .fixTopic), (400, .badCollapseID, .rejected, .fixRequest),
        (400, .badExpirationDate, .rejected, .fixRequest), (400, .badMessageID, .rejected, .fixRequest),
        (400, .badPriority, .rejected, .fixRequest), (400, .duplicateHeaders, .rejected, .fixRequest),
        (400, .invalidPushType, .rejected, .fixRequest), (400, .missingDeviceToken, .rejected, .fixRequest),
        (400, .payloadEmpty, .rejected, .fixRequest), (404, .badPath, .rejected, .fixRequest),
        (405, .methodNotAllowed, .rejected, .fixRequest), (413, .payloadTooLarge, .rejected, .fixRequest),
        (400, Reason(rawValue: "SomethingNew"), .rejected, .fixRequest),
        (403, Reason(rawValue: "SomethingNew"), .rejected, .fixCredential),
        (410, Reason(rawValue: "SomethingNew"), .rejected, .fixRequest),
        (418, Reason(rawValue: "SomethingNew"), .rejected, .fixRequest),
        (302, Reason(rawValue: "SomethingNew"), .rejected, .fixRequest),
        (400, .badJSON, .rejected, .fixRequest),
    ]

    @Test("a final refusal is reported at once, on every attempt", arguments: finals)
    func final(_ status: Int, _ reason: Reason, _ outcome: Outcome, _ action: Action) {
        for attempt in 1...7 {
            for facts in [AttemptFacts(attempt: attempt), AttemptFacts(attempt: attempt, expiration: 0)] {
                let expected = FinalReport(outcome, action, status: status, reason: reason)
                #expect(Self.settle(status, reason, facts) == .report(expected))
            }
        }
    }

    @Test("200 is accepted, whatever the attempt, the time or the age", arguments: 1...7)
    func accepted(_ attempt: Int) {
        let facts = AttemptFacts(attempt: attempt, firstAttemptAt: 0, deadline: 1, expiration: 1)
        #expect(Self.settle(200, facts) == .report(FinalReport(.accepted, .none, status: 200)))
    }

    @Test(
        "a refusal without a readable reason is judged by its status",
        arguments: [400, 403, 404, 410, 413, 499, 301, 0])
    func unreadable(_ status: Int) {
        guard case .report(let final) = Self.settle(status) else {
            Issue.record("\(status) is final")
            return
        }
        #expect(final.outcome == .rejected && final.reason == nil && final.detail != nil)
        #expect(final.action == (status == 403 ? .fixCredential : .fixRequest))
    }

    @Test("the time since when a token is dead is passed on")
    func tokenTime() {
        guard case .report(let final) = Self.settle(410, .unregistered, timestamp: 1_763_712_764_120) else {
            Issue.record("410 is final")
            return
        }
        #expect(final.tokenInvalidSince == 1_763_712_764_120)
    }

    @Test(
        "a token is dead at the latest since the answer, and a time that is not after 1970 is none",
        arguments: [(now, now), (now + 1, now), (.max, now), (1, 1), (0, nil), (-1, nil), (.min, nil)]
            as [(Int64, Int64?)])
    func impossibleTokenTime(_ timestamp: Int64, _ since: Int64?) {
        guard case .report(let final) = Self.settle(410, .unregistered, timestamp: timestamp) else {
            Issue.record("410 is final")
            return
        }
        #expect(final.tokenInvalidSince == since)
    }

    @Test(
        "no token is to be dropped while the whole route reports dead ones",
        arguments: [(410, Reason.unregistered), (410, .expiredToken), (400, .badDeviceToken)])
    func hold(_ status: Int, _ reason: Reason) {
        guard case .report(let final) = Self.settle(status, reason, AttemptFacts(holdsDeadTokens: true)) else {
            Issue.record("a dead token is final")
            return
        }
        #expect(final.outcome == .deadToken && final.action == .hold && final.detail != nil)
    }

    // MARK: Retries

    /// The tier after the first, second, … attempt: 15 s, 1 min, 5 min, 30 min, 30 min.
    static let ladder = [1, 2, 3, 4, 4]

    @Test(
        "what may pass goes up the tiers, one attempt each, and is exhausted after the last",
        arguments: [
            (429, Reason.tooManyRequests), (429, Reason(rawValue: "SomethingNew")), (500, .internalServerError),
            (503, .serviceUnavailable), (500, Reason(rawValue: "SomethingNew")), (502, Reason(rawValue: "x")),
            (503, Reason(rawValue: "Service Unavailable")), (599, Reason(rawValue: "x")), (504, nil), (429, nil),
        ] as [(Int, Reason?)])
    func retried(_ status: Int, _ reason: Reason?) {
        for attempt in 1...5 {
            let expected = Settlement.retry(tier: Self.ladder[attempt - 1], attempt: attempt + 1)
            #expect(Self.settle(status, reason, AttemptFacts(attempt: attempt)) == expected)
        }
        for attempt in 6...8 {
            let detail = "attempt \(attempt) of 6"
            let expected = FinalReport(.exhausted, .replay, status: status, reason: reason, detail: detail)
            #expect(Self.settle(status, reason, AttemptFacts(attempt: attempt)) == .report(expected))
        }
    }

    @Test(
        "Retry-After takes the smallest tier at or above it, beyond the last there is none",
        arguments: [
            (0, 0), (1, 0), (2, 0), (3, 1), (15, 1), (16, 2), (60, 2), (61, 3), (300, 3), (301, 4), (1800, 4),
            (1801, nil),
            (Int.max, nil),
        ] as [(Int, Int?)])
    func retryAfter(_ seconds: Int, _ tier: Int?) {
        for (status, reason) in [(429, Reason.tooManyRequests), (503, .serviceUnavailable), (503, .shutdown)] {
            let settlement = Self.settle(status, reason, retryAfter: seconds, AttemptFacts(attempt: 2))
            if let tier {
                #expect(settlement == .retry(tier: tier, attempt: 3))
            } else {
                let verdict = Self.verdict(settlement)
                #expect(verdict?.0 == .exhausted && verdict?.1 == .replay)
            }
        }
    }

    @Test("a negative Retry-After, or one beside a final answer, means nothing")
    func strangeRetryAfter() {
        #expect(Self.settle(503, .serviceUnavailable, retryAfter: -5) == .retry(tier: 1, attempt: 2))
        #expect(Self.verdict(Self.settle(400, .badTopic, retryAfter: 5))?.0 == .rejected)
        #expect(Self.verdict(Self.settle(200, retryAfter: 5))?.0 == .accepted)
    }

    @Test("a computed delay beyond the last tier takes the last; without tiers there is no retry")
    func shortTiers() {
        let short = RetryPolicy(tiers: [.milliseconds(100), .milliseconds(200)])
        #expect(Self.settle(500, AttemptFacts(attempt: 3), policy: short) == .retry(tier: 1, attempt: 4))
        let none = RetryPolicy(tiers: [])
        #expect(Self.verdict(Self.settle(500, policy: none))?.0 == .exhausted)
        #expect(Self.verdict(Self.settle(403, .forbidden, policy: none))?.1 == .fixCredential)
        let unanswered = none.settle(.unanswered(.deadline), job: AttemptFacts(), now: Self.now)
        #expect(Self.verdict(unanswered)?.0 == .unknown)
    }

    @Test("only one attempt is made where that is the maximum")
    func oneAttempt() {
        let once = RetryPolicy(maxAttempts: 1)
        #expect(Self.verdict(Self.settle(500, policy: once))?.0 == .exhausted)
    }

    @Test(
        "no attempt begins after max_age",
        arguments: [(21_600_000 - 15_000, true), (21_600_000 - 14_999, false), (30_000_000, false)] as [(Int64, Bool)])
    func maxAge(_ age: Int64, _ isRetried: Bool) {
        let settlement = Self.settle(500, AttemptFacts(firstAttemptAt: Self.now - age))
        if isRetried {
            #expect(settlement == .retry(tier: 1, attempt: 2))
        } else {
            #expect(Self.verdict(settlement)?.0 == .exhausted)
        }
    }

    @Test(
        "a first attempt in the future, from a clock that runs ahead, does not trap",
        arguments: [0, 1_763_712_900_000, 253_402_300_799_999] as [Int64])
    func clockAhead(_ first: Int64) {
        _ = Self.settle(500, AttemptFacts(firstAttemptAt: first))
    }

    @Test("a tier that comes back after the job's time is not used: it is expired at once")
    func expiresInTier() {
        for facts in [AttemptFacts(deadline: Self.now + 14_999), AttemptFacts(expiration: Self.now / 1_000 + 14)] {
            guard case .report(let final) = Self.settle(503, .serviceUnavailable, facts) else {
                Issue.record("the tier comes back too late")
                continue
            }
            #expect(final.outcome == .expired && final.action == .none && final.status == 503)
            #expect(final.reason == (facts.deadline == nil ? .expirationPassed : .deadlinePassed))
            #expect(final.detail?.contains("ServiceUnavailable") == true)
        }
        #expect(Self.settle(503, AttemptFacts(deadline: Self.now + 15_000)) == .retry(tier: 1, attempt: 2))
        #expect(Self.settle(503, AttemptFacts(expiration: Self.now / 1_000 + 15)) == .retry(tier: 1, attempt: 2))
    }

    @Test("expiration 0 and no deadline: no tier, exhausted at once; a deadline allows tiers")
    func tryOnce() {
        for (status, reason) in [
            (429, Reason.tooManyRequests), (500, .internalServerError), (503, .serviceUnavailable),
        ] {
            let settlement = Self.settle(status, reason, AttemptFacts(expiration: 0))
            #expect(Self.verdict(settlement)?.0 == .exhausted && Self.verdict(settlement)?.1 == .replay)
            let facts = AttemptFacts(deadline: Self.now + 600_000, expiration: 0)
            #expect(Self.settle(status, reason, facts) == .retry(tier: 1, attempt: 2))
        }
        let unanswered = Self.policy.settle(.unanswered(.deadline), job: AttemptFacts(expiration: 0), now: Self.now)
        #expect(Self.verdict(unanswered)?.0 == .unknown)
        #expect(Self.policy.settle(.unprocessed, job: AttemptFacts(expiration: 0), now: Self.now) == .resend)
        #expect(
            Self.settle(503, .shutdown, AttemptFacts(expiration: 0)) == .resendOnNewConnection)
    }

    // MARK: No answer

    @Test("what was provably not processed is resent at once, however often", arguments: [0, 1, 3, 100])
    func unprocessed(_ resends: Int) {
        for attempt in 1...7 {
            let facts = AttemptFacts(attempt: attempt, resends: resends)
            #expect(Self.policy.settle(.unprocessed, job: facts, now: Self.now) == .resend)
        }
    }

    @Test("what APNs does not take is sent again a hundred times, then waits in a tier, and is exhausted at last")
    func unprocessedAgainAndAgain() {
        func settled(_ facts: AttemptFacts) -> Settlement {
            Self.policy.settle(.unprocessed, job: facts, now: Self.now)
        }
        #expect(settled(AttemptFacts(refusals: RetryPolicy.maximumRefusals - 1)) == .resend)
        guard case .retry(_, attempt: 2) = settled(AttemptFacts(refusals: RetryPolicy.maximumRefusals)) else {
            Issue.record("no tier")
            return
        }
        let last = AttemptFacts(attempt: Self.policy.maxAttempts, refusals: RetryPolicy.maximumRefusals)
        guard case .report(let report) = settled(last) else {
            Issue.record("no report")
            return
        }
        #expect(report.outcome == .exhausted && report.reason == .unreachable)
        #expect(report.detail?.hasPrefix("APNs did not take it 100 times") == true)
    }

    @Test("what APNs does not take three times while others wait for it waits in a tier, so that another is tried")
    func unprocessedAlone() {
        func settled(_ refusals: Int) -> Settlement {
            Self.policy.settle(.unprocessed, job: AttemptFacts(refusals: refusals, isAlone: true), now: Self.now)
        }
        #expect(settled(RetryPolicy.maximumLoneRefusals - 1) == .resend)
        guard case .retry(_, attempt: 2) = settled(RetryPolicy.maximumLoneRefusals) else {
            Issue.record("no tier")
            return
        }
    }

    @Test("nothing is resent after its time")
    func unprocessedTooLate() {
        let facts = AttemptFacts(deadline: Self.now - 1)
        let expected = FinalReport(.expired, .none, reason: .deadlinePassed, detail: RetryPolicy.waitedDetail)
        #expect(Self.policy.settle(.unprocessed, job: facts, now: Self.now) == .report(expected))
        #expect(Self.policy.settle(.unprocessed, job: AttemptFacts(deadline: Self.now), now: Self.now) == .resend)
        let verdict = Self.verdict(Self.settle(503, .shutdown, facts))
        #expect(verdict?.0 == .expired && verdict?.1 == Action.none)
    }

    @Test(
        "without an answer the first tier is taken, one attempt each, or the job's wish is followed", arguments: 1...5)
    func unanswered(_ attempt: Int) {
        let retry = Self.policy.settle(.unanswered(.deadline), job: AttemptFacts(attempt: attempt), now: Self.now)
        #expect(retry == .retry(tier: 0, attempt: attempt + 1))
        let facts = AttemptFacts(attempt: attempt, onUnknown: .report)
        let expected = FinalReport(.unknown, .check, reason: .noAnswer, detail: "no answer before the request timeout")
        #expect(Self.policy.settle(.unanswered(.deadline), job: facts, now: Self.now) == .report(expected))
    }

    @Test("the last attempt without an answer is unknown, and so is one whose time or age ends")
    func lastUnanswered() {
        let last = [
            AttemptFacts(attempt: 6), AttemptFacts(deadline: Self.now + 1_999), AttemptFacts(expiration: 1),
            AttemptFacts(firstAttemptAt: Self.now - 21_600_000),
        ]
        for facts in last {
            let settlement = Self.policy.settle(.unanswered(.connectionLost), job: facts, now: Self.now)
            guard case .report(let final) = settlement else {
                Issue.record("there is no other attempt")
                continue
            }
            #expect(final.outcome == .unknown && final.action == .check && final.reason == .noAnswer)
            #expect(final.detail?.hasPrefix("the connection was lost before the answer; ") == true)
        }
    }

    @Test("what was not sent because its time had passed is expired")
    func expired() {
        let deadline = Self.policy.settle(.expired, job: AttemptFacts(deadline: Self.now - 1), now: Self.now)
        let detail = RetryPolicy.waitedDetail
        #expect(deadline == .report(FinalReport(.expired, .none, reason: .deadlinePassed, detail: detail)))
        let facts = AttemptFacts(deadline: Self.now + 1, expiration: 1)
        let expiration = Self.policy.settle(.expired, job: facts, now: Self.now)
        #expect(expiration == .report(FinalReport(.expired, .none, reason: .expirationPassed, detail: detail)))
    }

    // MARK: Connections and credentials

    @Test(
        "the connection's own troubles cost no attempt, three times",
        arguments: [
            (503, Reason.shutdown), (400, .idleTimeout), (403, .expiredProviderToken), (403, .unrelatedKeyIDInToken),
        ])
    func resent(_ status: Int, _ reason: Reason) {
        for attempt in 1...7 {
            for resends in 0..<3 {
                let facts = AttemptFacts(attempt: attempt, resends: resends)
                #expect(Self.settle(status, reason, facts) == .resendOnNewConnection)
            }
            let facts = AttemptFacts(attempt: attempt, resends: 3)
            if status == 403 {
                #expect(Self.settle(status, reason, facts) == .park(tier: 1))
            } else if attempt < 6 {
                #expect(
                    Self.settle(status, reason, facts) == .retry(tier: Self.ladder[attempt - 1], attempt: attempt + 1))
            } else {
                #expect(Self.verdict(Self.settle(status, reason, facts))?.0 == .exhausted)
            }
        }
    }

    static let credentialReasons: [Reason] = [
        .invalidProviderToken, .missingProviderToken, .badCertificate, .badCertificateEnvironment,
        .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .forbidden, .tooManyProviderTokenUpdates,
        Reason(rawValue: "BadCertificateSomething"), Reason(rawValue: "BadEnvironmentKeySomething"),
    ]

    @Test("a refused credential parks the route and leaves the attempt, even the last", arguments: credentialReasons)
    func parked(_ reason: Reason) {
        let status = reason == .tooManyProviderTokenUpdates ? 429 : 403
        for attempt in 1...7 {
            #expect(Self.settle(status, reason, retryAfter: 5, AttemptFacts(attempt: attempt)) == .park(tier: 1))
        }
    }

    @Test(
        "what a stopped route cannot send waits in the longest tier that is wanted and brings it back in its time",
        arguments: [
            (0, AttemptFacts(), 0), (14_999, AttemptFacts(), 0), (15_000, AttemptFacts(), 1),
            (3_600_000, AttemptFacts(), 4), (3_600_000, AttemptFacts(deadline: now + 299_999), 2),
            (3_600_000, AttemptFacts(deadline: now + 300_000), 3), (0, AttemptFacts(deadline: now + 1_999), nil),
            // Its age does not count, and it has not had the one attempt that it wants.
            (60_000, AttemptFacts(firstAttemptAt: now - 86_400_000), 2), (60_000, AttemptFacts(expiration: 0), 2),
        ] as [(Int64, AttemptFacts, Int?)])
    func postponed(longest: Int64, facts: AttemptFacts, tier: Int?) {
        let longest = Duration.milliseconds(longest)
        #expect(RetryPolicy().postponingTier(atMost: longest, job: facts, now: Self.now) == tier)
        #expect(RetryPolicy(tiers: []).postponingTier(atMost: longest, job: facts, now: Self.now) == nil)
    }

    @Test(
        "only past deadline or age, or with expiration 0, a refused credential is final", arguments: credentialReasons)
    func parkedTooLong(_ reason: Reason) {
        let final = [
            AttemptFacts(deadline: Self.now - 1), AttemptFacts(deadline: Self.now + 14_999),
            AttemptFacts(firstAttemptAt: Self.now - 21_600_000), AttemptFacts(expiration: 0),
            AttemptFacts(expiration: 1),
        ]
        for facts in final {
            let verdict = Self.verdict(Self.settle(403, reason, facts))
            #expect(verdict?.0 == .rejected && verdict?.1 == .fixCredential)
        }
        let facts = AttemptFacts(firstAttemptAt: Self.now - 21_600_000 + 15_000, deadline: Self.now + 15_000)
        #expect(Self.settle(403, reason, facts) == .park(tier: 1))
    }

    @Test(
        "a parked job waits in the tier nearest the probe's delay",
        arguments: [
            (0, 0), (2_000, 0), (8_000, 0), (8_500, 1), (8_501, 1), (15_000, 1), (37_500, 2), (60_000, 2), (300_000, 3),
            (900_000, 3), (1_800_000, 4), (10_000_000, 4),
        ] as [(Int64, Int)])
    func nearestTier(_ delay: Int64, _ tier: Int) {
        let facts = AttemptFacts(probeDelay: .milliseconds(delay))
        #expect(Self.settle(403, .invalidProviderToken, facts) == .park(tier: tier))
    }

    @Test(
        "what is held back for a refused credential is parked or final, and never sent again for that",
        arguments: credentialReasons + [.expiredProviderToken, .unrelatedKeyIDInToken])
    func heldBack(_ reason: Reason) {
        let refusal = Attempted.heldBack(.answer(Answer(status: 403, reason: reason)))
        for resends in 0...3 {
            let facts = AttemptFacts(attempt: 6, resends: resends, probeDelay: .seconds(60))
            #expect(Self.policy.settle(refusal, job: facts, now: Self.now) == .park(tier: 2))
        }
        let once = Self.policy.settle(refusal, job: AttemptFacts(expiration: 0), now: Self.now)
        #expect(Self.verdict(once)?.0 == .rejected && Self.verdict(once)?.1 == .fixCredential)
    }

    @Test("what is held back for a refusal without an answer is final with what was seen, and no answer of APNs")
    func heldBackWithoutAnswer() {
        let refusal = Attempted.heldBack(.connection("the server refused our certificate"))
        #expect(Self.policy.settle(refusal, job: AttemptFacts(), now: Self.now) == .park(tier: 1))
        let final = FinalReport(
            .rejected, .fixCredential,
            detail: "the route's credential is refused (the server refused our certificate), "
                + "and a job with expiration 0 and no deadline does not wait")
        #expect(Self.policy.settle(refusal, job: AttemptFacts(expiration: 0), now: Self.now) == .report(final))
    }

    @Test("what an answer means for its connection")
    func consequences() {
        func consequence(_ status: Int, _ reason: Reason?) -> AnswerMeaning.ConnectionConsequence {
            AnswerMeaning(status: status, reason: reason).connection
        }
        for reason in Self.credentialReasons { #expect(consequence(403, reason) == .retire) }
        for reason in [Reason.shutdown, .idleTimeout, .expiredProviderToken, .unrelatedKeyIDInToken] {
            #expect(consequence(403, reason) == .retire)
        }
        for (status, reason, _, _) in Self.finals { #expect(consequence(status, reason) == .keep) }
        #expect(consequence(200, nil) == .keep)
        #expect(consequence(429, .tooManyRequests) == .keep)
        #expect(consequence(500, .internalServerError) == .strike)
        #expect(consequence(503, .serviceUnavailable) == .strike)
        #expect(consequence(502, nil) == .strike)
    }

    @Test("every listed reason of APNs has its row")
    func complete() {
        let ours: Set<Reason> = [
            .ambiguousDeviceToken, .badContentType, .badDeadline, .badEncoding, .badEnvironment, .badHeaders, .badJobID,
            .badJSON, .badNotBefore, .badOnUnknown, .badReference, .badType, .bodyTooLarge, .deadlinePassed,
            .expirationPassed, .jobIDMismatch, .missingEnvironment, .noAnswer, .noRoute, .routingMismatch,
            .tooManyTokens, .badOperation, .badResults, .badStoragePolicy, .notConfigured, .poison, .unreachable,
            .heldFull, .untrustedSource,
        ]
        var tested = Set(Self.finals.map { $0.1 }).union(Self.credentialReasons)
        tested.formUnion([.shutdown, .idleTimeout, .expiredProviderToken, .unrelatedKeyIDInToken])
        tested.formUnion([.tooManyRequests, .internalServerError, .serviceUnavailable])
        tested.formUnion(BroadcastChannelReasonTests.finals.map { $0.1 } + [.serviceUnavailableSpaced])
        for known in Reason.Known.allCases {
            let reason = Reason(rawValue: known.rawValue)
            #expect(tested.contains(reason) != ours.contains(reason) || reason == .badJSON, "\(known.rawValue)")
        }
    }

    @Test("all facts of a job reach the table")
    func factsOfJob() throws {
        let job = try MessageBuilder.raw {
            $0.way = .returned
            $0.headers += [
                ("x-apns-v", .integer(1)), ("x-apns-attempt", .integer(4)),
                ("x-apns-first-attempt-at", .integer(1_700_000_000_009)),
                ("x-apns-deadline", .integer(1_700_000_000_008)), ("apns-expiration", .integer(1_700_000_007)),
                ("x-apns-on-unknown", .text("report")),
            ]
        }.job()
        let facts = AttemptFacts(job, resends: 2, holdsDeadTokens: true, probeDelay: .milliseconds(5))
        #expect(facts.attempt == 4 && facts.firstAttemptAt == 1_700_000_000_009)
        #expect(facts.deadline == 1_700_000_000_008 && facts.expiration == 1_700_000_007)
        #expect(facts.onUnknown == .report && facts.resends == 2 && facts.holdsDeadTokens)
        #expect(facts.probeDelay == .milliseconds(5))
    }
}
