import Testing

@testable import PushModel

@Suite("What APNs answers about broadcast channels", .timeLimit(.minutes(1)))
struct BroadcastChannelReasonTests {
    /// Everything that Apple lists for broadcasts and broadcast channels and that ends a job.
    static let finals: [(Int, Reason, Action)] = [
        (400, .featureNotEnabled, .fixTopic), (400, .topicDisallowed, .fixTopic), (403, .topicMismatch, .fixTopic),
        (400, .missingChannelID, .fixRequest), (400, .badChannelID, .fixRequest),
        (400, .channelNotRegistered, .fixRequest), (400, .badRequestParams, .fixRequest),
        (400, .badRequestPayload, .fixRequest), (400, .payloadEmpty, .fixRequest), (400, .badMessageID, .fixRequest),
        (400, .missingPushType, .fixRequest), (400, .invalidPushType, .fixRequest), (400, .badPriority, .fixRequest),
        (400, .badExpirationDate, .fixRequest), (400, .cannotCreateChannelConfig, .fixRequest),
        (400, .missingChannelQueueSize, .fixRequest), (404, .badPath, .fixRequest),
        (405, .methodNotAllowed, .fixRequest), (413, .payloadTooLarge, .fixRequest),
    ]

    @Test("a refusal that sending again cannot cure is final, with the action that cures it", arguments: finals)
    func final(_ status: Int, _ reason: Reason, _ action: Action) {
        let answer = Answer(status: status, reason: Reason(bytes: reason.rawValue.bytes))
        let expected = FinalReport(.rejected, action, status: status, reason: reason)
        #expect(RetryPolicy().settle(.response(answer), job: AttemptFacts(), now: 0) == .report(expected))
        #expect(answer.meaning.connection == .keep)
    }

    @Test(
        "a refused credential is not the job's fault",
        arguments: [
            "BadCertificate", "BadCertificateEnvironment", "MissingProviderToken", "InvalidProviderToken",
            "TooManyProviderTokenUpdates",
        ])
    func credential(_ reason: String) {
        let answer = Answer(status: 403, reason: Reason(bytes: reason.bytes))
        #expect(RetryPolicy().settle(.response(answer), job: AttemptFacts(), now: 0) == .park(tier: 1))
    }

    @Test(
        "what passes by itself is tried again",
        arguments: [(429, "TooManyRequests"), (500, "InternalServerError"), (503, "Service Unavailable")])
    func retried(_ status: Int, _ reason: String) {
        let answer = Answer(status: status, reason: Reason(bytes: reason.bytes))
        let settlement = RetryPolicy().settle(.response(answer), job: AttemptFacts(), now: 0)
        #expect(settlement == .retry(tier: 1, attempt: 2))
    }

    @Test("Shutdown and ExpiredProviderToken send the request again on a new connection")
    func resent() {
        for (status, reason) in [(503, Reason.shutdown), (403, .expiredProviderToken)] {
            let answer = Answer(status: status, reason: reason)
            let settlement = RetryPolicy().settle(.response(answer), job: AttemptFacts(), now: 0)
            #expect(settlement == .resendOnNewConnection)
        }
    }

    @Test("201 and 204 accept what they answer", arguments: [200, 201, 204])
    func accepted(_ status: Int) {
        let settlement = RetryPolicy().settle(.response(Answer(status: status)), job: AttemptFacts(), now: 0)
        #expect(settlement == .report(FinalReport(.accepted, .none, status: status)))
    }

    @Test("a host that cannot be reached costs an attempt each time, and in the end the job is exhausted")
    func unreachable() {
        let policy = RetryPolicy()
        for (attempt, tier) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4)] {
            let facts = AttemptFacts(attempt: attempt)
            #expect(policy.settle(.unreachable("x"), job: facts, now: 0) == .retry(tier: tier, attempt: attempt + 1))
        }
        for facts in [AttemptFacts(attempt: 6), AttemptFacts(expiration: 0), AttemptFacts(deadline: 14_999)] {
            guard case .report(let final) = policy.settle(.unreachable("no way"), job: facts, now: 0) else {
                Issue.record("it is final")
                continue
            }
            #expect(final.outcome == .exhausted && final.action == .replay && final.reason == .unreachable)
            #expect(final.detail?.hasPrefix("no way; ") == true)
        }
    }
}
