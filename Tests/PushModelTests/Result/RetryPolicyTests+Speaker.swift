import Testing

@testable import PushModel

// Who speaks: APNs, or something on the way to it.
extension RetryPolicyTests {
    /// The parts of an answer that show who gave it, and what becomes of a notification that may be sent again.
    struct Spoken: Sendable, CustomTestStringConvertible {
        var status: Int
        var operation = BroadcastChannelOperation.push
        var isSigned = false
        var body = Body.none
        var settlement: Settlement

        enum Body: String { case none, foreign, reason }

        init(
            _ status: Int, _ operation: BroadcastChannelOperation = .push, isSigned: Bool = false, body: Body = .none,
            to settlement: Settlement
        ) {
            self.status = status
            self.operation = operation
            self.isSigned = isSigned
            self.body = body
            self.settlement = settlement
        }

        var testDescription: String { "\(operation) \(status), \(isSigned ? "signed" : "unsigned"), body \(body)" }

        var answer: Answer {
            let reason = body == .reason ? Reason.badTopic : nil
            let speaker = Speaker(
                status: status, of: operation, isSigned: isSigned, hasReason: reason != nil, hasBody: body != .none)
            return Answer(status: status, speaker: speaker, reason: reason)
        }
    }

    private static let accepts = Settlement.report(FinalReport(.accepted, .none, status: 200))
    /// As a 503.
    private static let retries = Settlement.retry(tier: 1, attempt: 2)
    /// As a request without an answer.
    private static let unknown = Settlement.retry(tier: 0, attempt: 2)

    private static func rejects(_ status: Int, _ reason: Reason? = nil, _ action: Action = .fixRequest) -> Settlement {
        .report(
            FinalReport(
                .rejected, action, status: status, reason: reason,
                detail: reason == nil ? "APNs gave no reason that could be read" : nil))
    }

    /// Each answer, and who gave it.
    static let spoken: [(Spoken, Speaker)] = [
        (Spoken(200, isSigned: true, to: accepts), .apns),
        (Spoken(200, isSigned: true, body: .foreign, to: accepts), .apns),
        (Spoken(200, to: unknown), .unknown),
        (Spoken(200, body: .foreign, to: retries), .gateway),
        // No device push is answered with these by APNs.
        (Spoken(201, isSigned: true, to: unknown), .unknown),
        (Spoken(204, isSigned: true, to: unknown), .unknown),
        (Spoken(202, isSigned: true, body: .foreign, to: unknown), .unknown),
        (Spoken(201, body: .foreign, to: retries), .gateway),
        (Spoken(204, to: unknown), .unknown),
        (Spoken(301, to: retries), .gateway), (Spoken(302, body: .foreign, to: retries), .gateway),
        (Spoken(400, body: .foreign, to: retries), .gateway), (Spoken(401, body: .foreign, to: retries), .gateway),
        (Spoken(403, body: .foreign, to: retries), .gateway), (Spoken(403, to: retries), .gateway),
        (Spoken(404, body: .foreign, to: retries), .gateway), (Spoken(407, to: retries), .gateway),
        (Spoken(410, body: .foreign, to: retries), .gateway), (Spoken(413, body: .foreign, to: retries), .gateway),
        (Spoken(421, to: retries), .gateway), (Spoken(451, body: .foreign, to: retries), .gateway),
        (Spoken(600, body: .foreign, to: retries), .gateway),
        (Spoken(400, body: .reason, to: rejects(400, .badTopic, .fixTopic)), .apns),
        (Spoken(400, isSigned: true, to: rejects(400)), .apns),
        (Spoken(404, isSigned: true, body: .foreign, to: rejects(404)), .apns),
        (Spoken(403, isSigned: true, to: rejects(403, nil, .fixCredential)), .apns),
        (Spoken(429, to: retries), .apns), (Spoken(429, body: .foreign, to: retries), .apns),
        (Spoken(500, body: .foreign, to: retries), .apns), (Spoken(502, to: retries), .apns),
        (Spoken(504, body: .foreign, to: retries), .apns),
        (Spoken(200, .broadcast, isSigned: true, to: accepts), .apns),
        (Spoken(201, .broadcast, isSigned: true, to: unknown), .unknown),
        (Spoken(201, .createChannel, isSigned: true, to: .report(FinalReport(.accepted, .none, status: 201))), .apns),
        (Spoken(204, .deleteChannel, isSigned: true, to: .report(FinalReport(.accepted, .none, status: 204))), .apns),
        (Spoken(200, .listChannels, isSigned: true, body: .foreign, to: accepts), .apns),
        (Spoken(200, .listChannels, body: .foreign, to: retries), .gateway),
        (Spoken(204, .deleteChannel, to: unknown), .unknown),
        (Spoken(404, .readChannel, body: .foreign, to: retries), .gateway),
    ]

    @Test("an answer counts as APNs' only if it shows that APNs gave it", arguments: spoken)
    func speaks(_ spoken: Spoken, _ speaker: Speaker) {
        #expect(spoken.answer.speaker == speaker)
        #expect(Self.policy.settle(.response(spoken.answer), job: AttemptFacts(), now: Self.now) == spoken.settlement)
        guard speaker != .apns else { return }
        let meaning = spoken.answer.meaning
        #expect(meaning.credential == .unexamined && meaning.service == .troubled && meaning.connection == .strike)
        #expect(!meaning.isDeadToken && !meaning.isAccepted)
    }

    @Test("the last answer of a gateway is told with its status; an unsigned success may be unknown")
    func lastWords() {
        let gateway = Answer(status: 302, speaker: .gateway)
        let last = AttemptFacts(attempt: RetryPolicy().maxAttempts)
        let detail = "the last answer was status 302 of a gateway or proxy, not of APNs; attempt 6 of 6"
        let exhausted = FinalReport(.exhausted, .replay, status: 302, detail: detail)
        #expect(Self.policy.settle(.response(gateway), job: last, now: Self.now) == .report(exhausted))
        let unsigned = Answer(status: 200, speaker: .unknown)
        let unknown = FinalReport(
            .unknown, .check, reason: .noAnswer,
            detail: "status 200 without an apns-id, so it is not known who gave it")
        let facts = AttemptFacts(onUnknown: .report)
        #expect(Self.policy.settle(.response(unsigned), job: facts, now: Self.now) == .report(unknown))
    }
}
