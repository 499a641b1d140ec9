import Text

extension AttemptFacts {
    /// The moment in milliseconds since 1970 after which nothing is sent.
    var expiry: Int64? { firstExpiry(deadline: deadline, expiration: expiration) }

    /// Whether no tier may hold the job, because it wants one attempt now or none.
    var allowsNoTier: Bool { expiration == 0 && deadline == nil }

    /// Which limit a moment is beyond: the deadline, else the expiration.
    func reasonOfExpiry(at time: Int64) -> Reason {
        if let deadline, time > deadline { return .deadlinePassed }
        return .expirationPassed
    }
}

extension Answer {
    /// How long APNs asks to wait; nil if APNs does not say.
    fileprivate var wishedDelay: Duration? { retryAfter.flatMap { $0 >= 0 ? .seconds($0) : nil } }

    /// Since when the token is known to be dead, in milliseconds since 1970; nil if APNs does not say. A later time than
    /// that of the answer counts as that of the answer: else a token that is registered again later would be deleted.
    ///
    /// - Parameter now: When the answer came, in milliseconds since 1970.
    fileprivate func tokenInvalidSince(at now: Int64) -> Int64? {
        timestamp.flatMap { $0 > 0 ? min($0, now) : nil }
    }
}

extension RetryPolicy {
    /// Where a notification can wait for its next attempt.
    private enum Wait {
        case tier(Int)
        /// The next attempt would come after the notification's time.
        case expires(at: Int64)
        case never(String)
    }

    /// Decides what is done about an attempt. This is the only such table.
    ///
    /// - A notification whose time has passed is never resent.
    /// - A tier that would bring a notification back after its deadline or expiration is not used. The notification
    ///   ends at once: `unknown` if it was sent without an answer, `exhausted` if it could not be sent, `rejected` if
    ///   the credential was refused, else `expired`.
    /// - A `Retry-After` replaces the computed delay of every answer that is retried. An answer with status 5xx and a
    ///   `Retry-After` is retried, not resent.
    /// - An answer that is not APNs' is retried as an error of APNs is. If nobody can tell whether it is APNs', and its
    ///   status claims a success, the notification counts as sent without an answer.
    /// - After three resends, `Shutdown` and `IdleTimeout` are retried like other server errors, and
    ///   `ExpiredProviderToken` and `UnrelatedKeyIdInToken` park the route like a refused credential.
    /// - A notification that APNs provably did not take is resent a hundred times, and one that goes out alone three
    ///   times. Then it is retried like one that could not be sent.
    /// - If the credential is refused, a job with expiration 0 and no deadline is `rejected`: no tier may hold it.
    ///
    /// - Parameters:
    ///   - attempted: How the attempt ended.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    package func settle(_ attempted: Attempted, job facts: AttemptFacts, now: Int64) -> Settlement {
        switch attempted {
        case .response(let answer):
            return settle(answer, facts, now)
        case .unprocessed:
            if let report = expired(facts, at: now, nil) { return report }
            let most = facts.isAlone ? Self.maximumLoneRefusals : Self.maximumRefusals
            guard facts.refusals >= most else { return .resend }
            return settle(unreachable: "APNs did not take it \(facts.refusals) times", facts, now)
        case .unanswered(let cause):
            return settle(unanswered: cause.description, facts, now)
        case .expired:
            return .report(
                FinalReport(.expired, .none, reason: facts.reasonOfExpiry(at: now), detail: Self.waitedDetail))
        case .unreachable(let why):
            return settle(unreachable: why, facts, now)
        case .heldBack(let refusal):
            return park(refusal, facts, now)
        }
    }

    /// The detail of a result whose job was not sent in time.
    static let waitedDetail =
        "its time had passed before it could be sent: allow it more time, or run more workers if the queue is long"

    private func settle(_ answer: Answer, _ facts: AttemptFacts, _ now: Int64) -> Settlement {
        switch answer.meaning.notification {
        case .accepted:
            return .report(FinalReport(.accepted, .none, status: answer.status))
        case .unproved:
            return settle(unanswered: answer.text, facts, now)
        case .deadToken:
            return .report(
                FinalReport(
                    .deadToken, facts.holdsDeadTokens ? .hold : .dropToken, status: answer.status,
                    reason: answer.reason, detail: facts.holdsDeadTokens ? Self.holdDetail : nil,
                    tokenInvalidSince: answer.tokenInvalidSince(at: now)))
        case .resend(let lastResort):
            return resend(answer, lastResort, facts, now)
        case .retry:
            return retry(answer, facts, now)
        case .park:
            return park(.answer(answer), facts, now)
        case .rejected(let action):
            return .report(
                FinalReport(
                    .rejected, action, status: answer.status, reason: answer.reason,
                    detail: answer.reason == nil ? "APNs gave no reason that could be read" : nil))
        }
    }

    private static let holdDetail =
        "suddenly most tokens of this route are refused; check its environment and topics before deleting any"

    private func resend(
        _ answer: Answer, _ lastResort: NotificationMeaning.LastResort, _ facts: AttemptFacts, _ now: Int64
    ) -> Settlement {
        if answer.meaning.service == .troubled, answer.retryAfter != nil { return retry(answer, facts, now) }
        if let report = expired(facts, at: now, answer) { return report }
        if facts.resends < Self.maximumResends { return .resendOnNewConnection }
        switch lastResort {
        case .retry: return retry(answer, facts, now)
        case .park: return park(.answer(answer), facts, now)
        }
    }

    private func retry(_ answer: Answer, _ facts: AttemptFacts, _ now: Int64) -> Settlement {
        let wished = answer.wishedDelay
        switch wait(atLeast: wished ?? Self.rung(of: facts.attempt), isWish: wished != nil, facts, now) {
        case .tier(let tier):
            return .retry(tier: tier, attempt: facts.attempt + 1)
        case .expires(let time):
            return .report(tooLate(facts, at: time, answer))
        case .never(let why):
            let detail = answer.speaker == .apns ? why : "the last answer was \(answer.text); \(why)"
            return .report(
                FinalReport(.exhausted, .replay, status: answer.status, reason: answer.reason, detail: detail))
        }
    }

    private func settle(unanswered why: String, _ facts: AttemptFacts, _ now: Int64) -> Settlement {
        var detail = why
        if facts.onUnknown == .retry {
            switch wait(atLeast: .zero, isWish: false, facts, now) {
            case .tier(let tier): return .retry(tier: tier, attempt: facts.attempt + 1)
            case .expires: detail += "; the next attempt would come after the job's time"
            case .never(let why): detail += "; " + why
            }
        }
        return .report(FinalReport(.unknown, .check, reason: .noAnswer, detail: detail))
    }

    private func settle(unreachable why: String, _ facts: AttemptFacts, _ now: Int64) -> Settlement {
        var detail = why
        switch wait(atLeast: Self.rung(of: facts.attempt), isWish: false, facts, now) {
        case .tier(let tier): return .retry(tier: tier, attempt: facts.attempt + 1)
        case .expires: detail += "; the next attempt would come after the job's time"
        case .never(let limit): detail += "; " + limit
        }
        return .report(FinalReport(.exhausted, .replay, reason: .unreachable, detail: detail))
    }

    /// The computed delay after an attempt.
    private static func rung(of attempt: Int) -> Duration { ladder[min(max(attempt, 1), ladder.count) - 1] }

    /// The tier nearest a delay, the longer of two equally near; nil if there is no tier.
    private func tier(nearest wanted: Duration) -> Int? {
        func distance(_ tier: Int) -> Duration { max(tiers[tier] - wanted, wanted - tiers[tier]) }
        var nearest: Int?
        for index in tiers.indices {
            guard let best = nearest else {
                nearest = index
                continue
            }
            if distance(index) <= distance(best) { nearest = index }
        }
        return nearest
    }

    /// When a tier brings a notification back, in milliseconds since 1970.
    private func end(of tier: Int, from now: Int64) -> Int64 { now + tiers[tier].wholeMilliseconds }

    /// Whether an attempt at that time would come later than `maxAge` after the first one.
    private func isTooOld(_ facts: AttemptFacts, at time: Int64, now: Int64) -> Bool {
        .milliseconds(time - (facts.firstAttemptAt ?? now)) > maxAge
    }

    /// How long a device token rests after an answer. Only `TooManyRequests` is about one token.
    ///
    /// - Parameters:
    ///   - answer: What APNs answered.
    ///   - attempt: The number of the attempt that was answered, from 1.
    /// - Returns: At most the delay of the longest retry tier; nil if the token need not rest.
    package func rest(after answer: Answer, attempt: Int) -> Duration? {
        guard answer.meaning.service == .deviceThrottled, let longest = tiers.last else { return nil }
        return min(answer.wishedDelay ?? Self.rung(of: attempt), longest)
    }

    /// The tier in which a notification waits while its device token rests. Its attempt stays as it is.
    ///
    /// - Parameters:
    ///   - remaining: How much longer the token rests.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The tier's position. Nil if the notification must be sent now: there is no tier, no tier may hold it,
    ///   or the tier would bring it back too late.
    package func restingTier(remaining: Duration, job facts: AttemptFacts, now: Int64) -> Int? {
        guard !facts.allowsNoTier, let tier = tier(nearest: remaining) else { return nil }
        let back = end(of: tier, from: now)
        if isTooOld(facts, at: back, now: now) { return nil }
        if let expiry = facts.expiry, back > expiry { return nil }
        return tier
    }

    /// The tier in which a notification waits while a stopped route cannot send it. Its attempt stays as it is.
    ///
    /// `maxAge` does not count, because the notification waits for the route as it would in its queue.
    ///
    /// - Parameters:
    ///   - longest: How long the notification may wait. The shortest tier may be longer than this.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The position of the longest such tier that brings the notification back in its time; nil if none
    ///   does.
    package func postponingTier(atMost longest: Duration, job facts: AttemptFacts, now: Int64) -> Int? {
        tiers.indices.last { tier in
            (tier == 0 || tiers[tier] <= longest) && facts.expiry.map { end(of: tier, from: now) <= $0 } != false
        }
    }

    /// Parks the route; the notification waits in the tier nearest the delay after which the route probes. Reports
    /// `rejected` if the notification cannot wait there.
    private func park(_ refusal: CredentialRefusal, _ facts: AttemptFacts, _ now: Int64) -> Settlement {
        func refused(_ why: String) -> Settlement {
            let report =
                switch refusal {
                case .answer(let answer):
                    FinalReport(
                        .rejected, .fixCredential, status: answer.status, reason: answer.reason,
                        detail: "the route's credential is refused, and " + why)
                case .connection(let text):
                    FinalReport(
                        .rejected, .fixCredential,
                        detail: "the route's credential is refused (\(text)), and " + why)
                }
            return .report(report)
        }
        guard !facts.allowsNoTier else { return refused("a job with expiration 0 and no deadline does not wait") }
        guard let nearest = tier(nearest: facts.probeDelay) else { return refused("there is no retry tier") }
        let back = end(of: nearest, from: now)
        if isTooOld(facts, at: back, now: now) { return refused("the job would become older than max_age") }
        if let expiry = facts.expiry, back > expiry { return refused("the job's time ends before the next attempt") }
        return .park(tier: nearest)
    }

    /// The shortest tier of at least a delay, unless attempts, age or time forbid another attempt. The longest tier if
    /// all are shorter and APNs did not name the delay.
    ///
    /// - Parameters:
    ///   - delay: The shortest wait.
    ///   - isWish: Whether APNs named the delay itself, so that a shorter one is not enough.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    private func wait(atLeast delay: Duration, isWish: Bool, _ facts: AttemptFacts, _ now: Int64) -> Wait {
        if facts.allowsNoTier { return .never("a job with expiration 0 and no deadline is tried once") }
        if facts.attempt >= maxAttempts { return .never("attempt \(facts.attempt) of \(maxAttempts)") }
        guard !tiers.isEmpty else { return .never("there is no retry tier") }
        let fitting = tiers.firstIndex { $0 >= delay }
        if fitting == nil, isWish {
            return .never("APNs asks to wait \(delay.components.seconds) s, longer than the longest retry tier")
        }
        let tier = fitting ?? tiers.count - 1
        let back = end(of: tier, from: now)
        if isTooOld(facts, at: back, now: now) { return .never("the job would become older than max_age") }
        if let expiry = facts.expiry, back > expiry { return .expires(at: back) }
        return .tier(tier)
    }

    /// A final report if the notification's time has passed already; else nil.
    private func expired(_ facts: AttemptFacts, at now: Int64, _ answer: Answer?) -> Settlement? {
        guard let expiry = facts.expiry, now > expiry else { return nil }
        return .report(
            FinalReport(
                .expired, .none, status: answer?.status, reason: facts.reasonOfExpiry(at: now),
                detail: answer?.reason.map { "the last answer was " + $0.rawValue } ?? Self.waitedDetail))
    }

    /// The final report of a notification whose time ends before another attempt can be made.
    private func tooLate(_ facts: AttemptFacts, at time: Int64, _ answer: Answer) -> FinalReport {
        FinalReport(
            .expired, .none, status: answer.status, reason: facts.reasonOfExpiry(at: time),
            detail: "the last answer was \(answer.text), and the next attempt would come too late")
    }
}
