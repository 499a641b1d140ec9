import TLS
import Testing

@testable import APNSSimulator

@Suite("What a connection is bound to", .timeLimit(.minutes(1)))
struct ConnectionTrustTests {
    let publicKey: ES256PublicKey

    init() throws { publicKey = try ES256PrivateKey.generate().publicKey }

    private func key(
        _ id: String, topics: Set<String>? = nil, environment: ServiceEnvironment? = nil, related: String? = nil
    ) -> ProviderKey {
        ProviderKey(
            keyID: id, teamID: "DEF7654321", publicKey: publicKey, topics: topics, environment: environment,
            relatedKeyID: related)
    }

    private func facts(_ keyID: String, team: String = "DEF7654321", issuedAt: Int64 = 1) -> ProviderTokenFacts {
        ProviderTokenFacts(keyID: keyID, teamID: team, issuedAt: issuedAt)
    }

    @Test("The same key may renew its token")
    func renewal() {
        var trust = ConnectionTrust(environment: .production)
        #expect(trust.admit(facts("A"), key: key("A")) == nil)
        #expect(trust.admit(facts("A", issuedAt: 2), key: key("A")) == nil)
        #expect(trust.first?.issuedAt == 1)
        #expect(trust.current?.issuedAt == 2)
    }

    @Test("Another team, key or environment is refused, each with its reason")
    func strangers() {
        var trust = ConnectionTrust(environment: .production)
        #expect(trust.admit(facts("D"), key: key("D", environment: .development)) == .badEnvironmentKeyID)
        #expect(trust.first == nil)
        #expect(trust.admit(facts("A"), key: key("A", environment: .production)) == nil)
        #expect(trust.admit(facts("A", team: "OTHER"), key: key("A")) == .invalidProviderToken)
        #expect(trust.admit(facts("B"), key: key("B")) == .unrelatedKeyID)
        #expect(trust.admit(facts("R"), key: key("R", related: "A")) == nil)
        var other = ConnectionTrust(environment: .production)
        #expect(other.admit(facts("R"), key: key("R", related: "A")) == nil)
        #expect(other.admit(facts("A"), key: key("A")) == nil)
    }

    @Test("A second team is told what the choices say")
    func choice() {
        var choices = ConnectionTrust.Choices()
        choices.secondTeam = .forbidden
        var trust = ConnectionTrust(environment: .production, choices: choices)
        #expect(trust.admit(facts("A"), key: nil) == nil)
        #expect(trust.admit(facts("A", team: "OTHER"), key: nil) == .forbidden)
    }

    @Test(
        "A topic-specific key covers its bundle identifiers with every suffix, and no others",
        arguments: [
            ("com.example.app", true), ("com.example.app.voip", true), ("com.example.app.push-type.widgets", true),
            ("com.example.apps", false), ("com.other", false),
        ])
    func topics(_ topic: String, _ isCovered: Bool) {
        let trust = ConnectionTrust(environment: .production)
        let limited = key("A", topics: ["com.example.app"])
        #expect(trust.refusal(topic: topic, key: limited) == (isCovered ? nil : .topicDisallowed))
        #expect(trust.refusal(topic: topic, key: key("A")) == nil)
        #expect(trust.refusal(topic: topic, key: nil) == nil)
    }
}
