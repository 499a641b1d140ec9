import TLS
import Testing

@testable import APNSSimulator

@Suite("Provider tokens at the gateway", .timeLimit(.minutes(1)))
struct TokenTrustTests {
    static let minute: Int64 = 60_000
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func key(
        _ id: String, team: String = "DEF7654321", topics: Set<String>? = nil,
        environment: ServiceEnvironment? = nil, related: String? = nil
    ) -> ProviderKey {
        ProviderKey(
            keyID: id, teamID: team, publicKey: maker.key.publicKey, topics: topics, environment: environment,
            relatedKeyID: related)
    }

    private func push(_ simulator: RunningSimulator) throws -> RequestBuilder { try push("TEAMKEY001", simulator) }

    private func push(_ keyID: String, team: String = "DEF7654321", _ simulator: RunningSimulator) throws
        -> RequestBuilder
    {
        let bearer = try maker.bearer(issuedAt: simulator.control.now / 1000, keyID: keyID, teamID: team)
        return RequestBuilder().with("authorization", bearer)
    }

    /// Two teams, keys of every kind.
    private func withKeys(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) throws -> Void
    ) async throws {
        try await SimulatorBench.with({
            $0.acceptsAnyKey = false
            $0.keys = [
                key("TEAMKEY001"), key("TEAMPROD01", environment: .production),
                key("TOPICKEY01", topics: ["com.example.app"], related: "TOPICKEY02"),
                key("TOPICKEY02", topics: ["com.example.app", "com.example.two"]),
                key("TOPICKEY03", topics: ["com.example.app"]), key("OTHERKEY01", team: "ZZZ7654321"),
            ]
            change(&$0)
        }) { try body($0) }
    }

    @Test(
        "The first push binds a connection; later keys are judged against it",
        arguments: [
            ("TEAMKEY001", "TEAMKEY001", ""), ("TEAMKEY001", "TOPICKEY01", "UnrelatedKeyIdInToken"),
            ("TEAMKEY001", "TEAMPROD01", "BadEnvironmentKeyIdInToken"), ("TOPICKEY01", "TOPICKEY01", ""),
            ("TOPICKEY01", "TOPICKEY02", ""), ("TOPICKEY02", "TOPICKEY01", ""),
            ("TOPICKEY01", "TOPICKEY03", "UnrelatedKeyIdInToken"),
            ("TOPICKEY01", "TEAMKEY001", "UnrelatedKeyIdInToken"),
            ("TEAMKEY001", "OTHERKEY01", "InvalidProviderToken"),
        ])
    func binding(_ first: String, _ second: String, _ reason: String) async throws {
        try await withKeys({ $0.limits.tokenUpdateInterval = 0 }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push(first, simulator)).status == 200)
            let team = second == "OTHERKEY01" ? "ZZZ7654321" : "DEF7654321"
            #expect(try client.exchange(try push(second, team: team, simulator)).reason == reason)
        }
    }

    @Test("A topic-specific key covers its topics with any suffix, and no others")
    func topics() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let good = try push("TOPICKEY01", simulator)
            #expect(try client.exchange(good.type("voip", topic: "com.example.app.voip")).status == 200)
            #expect(try client.exchange(good.with("apns-topic", "com.example.two")).reason == "TopicDisallowed")
        }
    }

    @Test("Answers that Apple leaves open can be chosen")
    func choices() async throws {
        try await withKeys({
            $0.trust.secondTeam = .forbidden
            $0.trust.otherEnvironment = .badEnvironmentKey
        }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push("TEAMPROD01", simulator)).reason == "BadEnvironmentKeyInToken")
            #expect(try client.exchange(try push(simulator)).status == 200)
            let other = try push("OTHERKEY01", team: "ZZZ7654321", simulator)
            #expect(try client.exchange(other).reason == "Forbidden")
        }
    }

    @Test("A token expires after an hour of the simulator's clock")
    func expiry() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let good = try push(simulator)
            #expect(try client.exchange(good).status == 200)
            simulator.control.advanceClock(milliseconds: 59 * Self.minute)
            #expect(try client.exchange(good).status == 200)
            simulator.control.advanceClock(milliseconds: 2 * Self.minute)
            #expect(try client.exchange(good).reason == "ExpiredProviderToken")
            #expect(try client.exchange(try push(simulator)).status == 200)
        }
    }

    @Test("A second new token within twenty minutes is too many on the same connection, and fine on another one")
    func refresh() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let first = try push(simulator)
            #expect(try client.exchange(first).status == 200)
            simulator.control.advanceClock(milliseconds: 19 * Self.minute)
            let second = try push(simulator)
            #expect(try client.exchange(second).reason == "TooManyProviderTokenUpdates")
            #expect(try client.exchange(first).status == 200)
            #expect(try RawClient(simulator).exchange(second).status == 200)
            simulator.control.advanceClock(milliseconds: 2 * Self.minute)
            #expect(try client.exchange(second).status == 200)
            #expect(try client.exchange(first).status == 200)
        }
    }

    @Test("Related keys on one connection have accounts of their own")
    func relatedAccounts() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let first = try push("TOPICKEY01", simulator)
            let second = try push("TOPICKEY02", simulator)
            for push in [first, second, first, second] { #expect(try client.exchange(push).status == 200) }
            simulator.control.advanceClock(milliseconds: Self.minute)
            #expect(try client.exchange(try push("TOPICKEY02", simulator)).status == 429)
        }
    }

    @Test("A day with a token every 55 minutes passes in a moment without a refusal, one with 15 minutes does not")
    func day() async throws {
        try await withKeys { simulator in
            let patient = try RawClient(simulator)
            for _ in 0..<26 {
                let good = try push(simulator)
                #expect(try patient.exchange(good).status == 200)
                simulator.control.advanceClock(milliseconds: 55 * Self.minute)
                #expect(try patient.exchange(good).status == 200)
            }
            let hasty = try RawClient(simulator)
            let answers = try (0..<96).map { _ in
                defer { simulator.control.advanceClock(milliseconds: 15 * Self.minute) }
                return try hasty.exchange(try push(simulator)).status
            }
            #expect(answers.count { $0 == 429 } == 48)
            #expect(
                simulator.ledger.counts.allSatisfy { $0.status == 200 || $0.label == "TooManyProviderTokenUpdates" })
        }
    }

    @Test("A token that was answered ExpiredProviderToken may be replaced at once")
    func excused() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let first = try push(simulator)
            #expect(try client.exchange(first).status == 200)
            #expect(try client.exchange(first.token(Tokens.beginning("bad03403"))).reason == "ExpiredProviderToken")
            simulator.control.advanceClock(milliseconds: Self.minute)
            #expect(try client.exchange(try push(simulator)).status == 200)
        }
    }

    @Test(
        "By choice all connections of a key or a team share one account",
        arguments: [
            (TrustChoices.RefreshScope.key, "TOPICKEY02", 200), (.key, "TOPICKEY01", 429),
            (.team, "TOPICKEY02", 429), (.team, "TOPICKEY01", 429),
        ])
    func sharedAccount(_ scope: TrustChoices.RefreshScope, _ second: String, _ status: Int) async throws {
        try await withKeys({ $0.trust.refreshScope = scope }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push("TOPICKEY01", simulator)).status == 200)
            simulator.control.advanceClock(milliseconds: Self.minute)
            #expect(try RawClient(simulator).exchange(try push(second, simulator)).status == status)
        }
    }

    @Test("By choice too early an update spoils the whole connection until twenty minutes are over")
    func penalty() async throws {
        try await withKeys({ $0.trust.refreshPenalty = .connection }) { simulator in
            let client = try RawClient(simulator)
            let first = try push(simulator)
            #expect(try client.exchange(first).status == 200)
            simulator.control.advanceClock(milliseconds: Self.minute)
            #expect(try client.exchange(try push(simulator)).status == 429)
            #expect(try client.exchange(first).status == 429)
            simulator.control.advanceClock(milliseconds: 20 * Self.minute)
            #expect(try client.exchange(first).status == 200)
        }
    }

    @Test("A revoked key is invalid on open connections, too, until it is restored")
    func revocation() async throws {
        try await withKeys { simulator in
            let client = try RawClient(simulator)
            let good = try push(simulator)
            #expect(try client.exchange(good).status == 200)
            #expect(simulator.control.setKey("TEAMKEY001", isRevoked: true))
            #expect(try client.exchange(good).reason == "InvalidProviderToken")
            simulator.control.setKey("TEAMKEY001", isRevoked: false)
            #expect(try client.exchange(good).status == 200)
            #expect(!simulator.control.setKey("UNKNOWN001", isRevoked: true))
            simulator.control.add(key("NEWKEY0001"))
            #expect(try RawClient(simulator).exchange(try push("NEWKEY0001", simulator)).status == 200)
        }
    }

    @Test("Any well-formed key can be revoked where any is good")
    func revokeAny() async throws {
        try await SimulatorBench.with { simulator in
            simulator.control.setKey("SOMEKEY001", isRevoked: true)
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push("SOMEKEY001", simulator)).status == 403)
            #expect(try RawClient(simulator).exchange(try push("SOMEKEY002", simulator)).status == 200)
        }
    }

    @Test(
        "A key's argument names topics, environment and related key in any order",
        arguments: [
            ("a.b,c.d", ["a.b", "c.d"], nil, nil),
            ("environment=production", nil, .production, nil),
            ("related=OTHER00000:a.b", ["a.b"], nil, "OTHER00000"),
            ("a.b:environment=development:related=OTHER00000", ["a.b"], .development, "OTHER00000"),
        ] as [(String, Set<String>?, ServiceEnvironment?, String?)])
    func argument(_ rest: String, _ topics: Set<String>?, _ environment: ServiceEnvironment?, _ related: String?)
        async throws
    {
        try await SimulatorBench.with { simulator in
            let file = String(simulator.authorityFile.dropLast("ca.pem".count)) + "ca-key.pem"
            let key = try ProviderKey(argument: "ABC1234567:DEF7654321:\(file):\(rest)")
            #expect(key.topics == topics)
            #expect(key.environment == environment)
            #expect(key.relatedKeyID == related)
            for bad in ["environment=moon", "color=red", "", "related=X"] {
                #expect(throws: SimulatorError.self) {
                    _ = try ProviderKey(argument: "ABC1234567:DEF7654321:\(file):\(bad)")
                }
            }
            for bad in ["ABC123456:DEF7654321", "ABC1234567:DEF76543210", "ABC-234567:DEF7654321"] {
                let error = #expect(throws: SimulatorError.self) { _ = try ProviderKey(argument: "\(bad):\(file)") }
                #expect(error?.message.contains("10 letters and digits") == true)
            }
        }
    }
}
