import Testing

@testable import PushModel

@Suite("What an answer means to connection, credential and service", .timeLimit(.minutes(1)))
struct AnswerMeaningTests {
    /// One answer and what it means to all but its notification, whose part `AnswerTableTests` has.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String?
        let connection: AnswerMeaning.ConnectionConsequence
        let credential: CredentialVerdict
        let service: AnswerMeaning.ServiceState

        init(
            _ status: Int, _ reason: String?, _ connection: AnswerMeaning.ConnectionConsequence,
            _ credential: CredentialVerdict, _ service: AnswerMeaning.ServiceState
        ) {
            self.status = status
            self.reason = reason
            self.connection = connection
            self.credential = credential
            self.service = service
        }

        var testDescription: String { "\(status) \(reason ?? "without a reason")" }

        var meaning: AnswerMeaning { AnswerMeaning(status: status, reason: reason.map { Reason(rawValue: $0) }) }
    }

    /// The answers that say something to others than their notification.
    static let rows: [Row] = [
        Row(403, "ExpiredProviderToken", .retire, .tokenExpired, .working),
        Row(403, "UnrelatedKeyIdInToken", .retire, .doubted, .working),
        Row(400, "IdleTimeout", .retire, .accepted, .working),
        Row(503, "Shutdown", .retire, .unexamined, .troubled),
        Row(429, "TooManyRequests", .keep, .accepted, .deviceThrottled),
        Row(500, "InternalServerError", .strike, .unexamined, .troubled),
        Row(503, "ServiceUnavailable", .strike, .unexamined, .troubled),
        Row(503, "Service Unavailable", .strike, .unexamined, .troubled),
        Row(429, "TooManyProviderTokenUpdates", .retire, .tokenChangedTooOften, .working),
        Row(403, "InvalidProviderToken", .retire, .refused(.everyRoute), .working),
        Row(403, "BadCertificate", .retire, .refused(.everyRoute), .working),
        Row(403, "BadCertificateEnvironment", .retire, .refused(.oneRoute), .working),
        Row(403, "BadEnvironmentKeyIdInToken", .retire, .refused(.oneRoute), .working),
        Row(403, "BadEnvironmentKeyInToken", .retire, .refused(.oneRoute), .working),
        Row(403, "Forbidden", .retire, .refused(.oneRoute), .working),
        Row(403, "MissingProviderToken", .retire, .refused(.oneRoute), .working),
        Row(403, "TopicMismatch", .keep, .doubted, .working),
        // What nobody has listed yet.
        Row(403, "BadCertificateSomething", .retire, .refused(.everyRoute), .working),
        Row(403, "BadEnvironmentKeySomething", .retire, .refused(.oneRoute), .working),
        Row(403, "SomethingNew", .keep, .unexplained, .working),
        Row(429, "SomethingNew", .keep, .unexamined, .troubled),
        Row(500, "SomethingNew", .strike, .unexamined, .troubled),
        Row(400, "SomethingNew", .keep, .accepted, .working),
        Row(400, nil, .keep, .accepted, .working),
        Row(403, nil, .keep, .unexplained, .working),
        Row(429, nil, .keep, .unexamined, .troubled),
        Row(502, nil, .strike, .unexamined, .troubled),
    ]

    @Test("each row of the table", arguments: rows)
    func table(_ row: Row) {
        #expect(row.meaning.connection == row.connection)
        #expect(row.meaning.credential == row.credential)
        #expect(row.meaning.service == row.service)
    }

    @Test("all other documented refusals say something to their notification alone", arguments: DocumentedReason.all)
    func others(_ reason: DocumentedReason) {
        guard !Self.rows.contains(where: { $0.reason == reason.name }) else { return }
        let meaning = Row(reason.status, reason.name, .keep, .accepted, .working).meaning
        #expect(meaning.connection == .keep && meaning.credential == .accepted && meaning.service == .working)
        #expect(meaning.notification != .park)
    }

    @Test("an accepted request means nothing but good", arguments: [200, 201, 204])
    func accepted(_ status: Int) {
        let meaning = AnswerMeaning(status: status, reason: nil)
        #expect(
            meaning.isAccepted && meaning.connection == .keep && meaning.credential == .accepted
                && meaning.service == .working)
    }

    @Test("only what refuses the credential, or how often it changes, parks a route", arguments: rows)
    func parks(_ row: Row) {
        let isRefused = row.credential.isRefusal || row.credential == .tokenChangedTooOften
        #expect((row.meaning.notification == .park) == isRefused)
        #expect(!isRefused || row.credential.turnsAway, "what is refused was turned away")
    }

    @Test("all but what is accepted, or not looked at, was turned away for its credential", arguments: rows)
    func turnsAway(_ row: Row) {
        let isProof = row.credential == .accepted || row.credential == .unexamined
        #expect(row.credential.turnsAway == !isProof)
    }

    @Test(
        "a GOAWAY frame refuses the credential with the reasons that refuse it in an answer",
        arguments: [
            ("BadCertificate", .refused(.everyRoute)), ("BadCertificateEnvironment", .refused(.oneRoute)),
            ("InvalidProviderToken", .refused(.everyRoute)), ("Forbidden", .refused(.oneRoute)),
            ("BadCertificateSomething", .refused(.everyRoute)), ("TooManyProviderTokenUpdates", .tokenChangedTooOften),
            ("ExpiredProviderToken", .tokenExpired), ("Shutdown", .doubted), ("SomethingNew", .unexplained),
        ] as [(String, CredentialVerdict)])
    func goAway(_ reason: String, _ verdict: CredentialVerdict) {
        #expect(Reason(rawValue: reason).credentialVerdict == verdict)
    }

    @Test(
        "what is looked for in the body of an answer",
        arguments: [
            (200, .push, .nothing), (201, .push, .reason(isNeeded: false)), (204, .push, .reason(isNeeded: false)),
            (202, .push, .reason(isNeeded: false)), (400, .push, .reason(isNeeded: true)),
            (301, .push, .reason(isNeeded: true)), (403, .push, .reason(isNeeded: true)),
            (410, .push, .reason(isNeeded: true)), (429, .push, .reason(isNeeded: false)),
            (499, .push, .reason(isNeeded: true)), (500, .push, .reason(isNeeded: false)),
            (503, .push, .reason(isNeeded: false)), (200, .broadcast, .broadcastChannel(isNeeded: false)),
            (201, .createChannel, .broadcastChannel(isNeeded: false)),
            (202, .createChannel, .reason(isNeeded: false)),
            (200, .readChannel, .broadcastChannel(isNeeded: true)),
            (200, .listChannels, .broadcastChannel(isNeeded: true)),
            (204, .deleteChannel, .broadcastChannel(isNeeded: false)),
            (400, .listChannels, .reason(isNeeded: true)), (429, .createChannel, .reason(isNeeded: false)),
            (503, .readChannel, .reason(isNeeded: false)),
        ] as [(Int, BroadcastChannelOperation, AnswerBody)])
    func body(_ status: Int, _ operation: BroadcastChannelOperation, _ body: AnswerBody) {
        #expect(AnswerBody(status: status, of: operation) == body)
    }
}
