import TLS
import TestSupport
import Testing

@testable import APNSSimulator

@Suite("Every reason by breaking its rule", .timeLimit(.minutes(1)))
struct RefusalReasonTests {
    /// One way to meet a reason by breaking a rule, without a script.
    struct RuleCase: Sendable, CustomTestStringConvertible {
        /// The reason wanted.
        var reason: String
        /// Changes the simulator before its start.
        var configure: @Sendable (inout SimulatorConfiguration) -> Void = { _ in }
        /// Makes the request that breaks the rule; may push and change the simulator first.
        var request: @Sendable (RuleBench) throws -> RawAnswer

        var testDescription: String { reason }

        init(
            _ reason: String, _ configure: @escaping @Sendable (inout SimulatorConfiguration) -> Void = { _ in },
            _ request: @escaping @Sendable (RuleBench) throws -> RawAnswer
        ) {
            self.reason = reason
            self.configure = configure
            self.request = request
        }

        /// A request that is wrong by itself.
        static func wrong(_ reason: String, _ change: @escaping @Sendable (RequestBuilder) -> RequestBuilder)
            -> RuleCase
        {
            RuleCase(reason) { try $0.client().exchange(change(try $0.push())) }
        }
    }

    /// What a case works with.
    struct RuleBench {
        let simulator: RunningSimulator
        let maker: TokenMaker

        func client(_ certificate: ProviderCertificate? = nil) throws -> RawClient {
            try RawClient(simulator, certificate: certificate)
        }

        func push(keyID: String = "ABC1234567", teamID: String = "DEF7654321", minutesLater: Int64 = 0) throws
            -> RequestBuilder
        {
            let bearer = try maker.bearer(issuedAt: maker.issuedAt + minutesLater * 60, keyID: keyID, teamID: teamID)
            return RequestBuilder().with("authorization", bearer)
        }

        func certificate(_ topics: [String] = ["com.example.app"], for environments: Set<ServiceEnvironment> = [])
            throws
            -> ProviderCertificate
        {
            try simulator.control.issue(ProviderCertificateRequest(topics: topics, environments: environments))
        }
    }

    static let requests: [RuleCase] = [
        .wrong("BadCollapseId") { $0.with("apns-collapse-id", String(repeating: "c", count: 65)) },
        .wrong("BadDeviceToken") { $0.token("no-token") },
        .wrong("BadExpirationDate") { $0.with("apns-expiration", "soon") },
        .wrong("BadMessageId") { $0.with("apns-id", "1") },
        .wrong("BadPriority") { $0.with("apns-priority", "3") },
        .wrong("BadTopic") { $0.with("apns-topic", "com example") },
        .wrong("DeviceTokenNotForTopic") { $0.type("voip", topic: "com.example.app") },
        .wrong("DuplicateHeaders") { $0.adding("apns-topic", "com.example.app") },
        .wrong("InvalidPushType") { $0.with("apns-push-type", "loud") },
        .wrong("MissingDeviceToken") { $0.with(":path", "/3/device/") },
        .wrong("MissingTopic") { $0.with("apns-topic", nil) },
        .wrong("PayloadEmpty") { $0.payload("") },
        .wrong("BadPath") { $0.with(":path", "/2/device/abcd") },
        .wrong("MethodNotAllowed") { $0.with(":method", "GET") },
        .wrong("PayloadTooLarge") { $0.payload(payload(bytes: 4097)) },
        .wrong("MissingProviderToken") { $0.with("authorization", nil) },
    ]

    static let credentials: [RuleCase] = [
        RuleCase("InvalidProviderToken") {
            try $0.client().exchange(RequestBuilder().with("authorization", "bearer a.b.c"))
        },
        RuleCase("ExpiredProviderToken") {
            $0.simulator.control.advanceClock(milliseconds: 3_601_000)
            return try $0.client().exchange(try $0.push())
        },
        RuleCase("TopicDisallowed", { $0.trust.topicOutsideKey = .topicDisallowed }) {
            try $0.client().exchange(try $0.push(keyID: "TOPICKEY01").with("apns-topic", "com.other"))
        },
        RuleCase("Forbidden", { $0.trust.secondTeam = .forbidden }) {
            let client = try $0.client()
            _ = try client.exchange(try $0.push())
            return try client.exchange(try $0.push(keyID: "OTHERTEAM1", teamID: "ZZZ7654321"))
        },
        RuleCase("UnrelatedKeyIdInToken") {
            let client = try $0.client()
            _ = try client.exchange(try $0.push())
            return try client.exchange(try $0.push(keyID: "TOPICKEY01"))
        },
        RuleCase("BadEnvironmentKeyIdInToken") { try $0.client().exchange(try $0.push(keyID: "PRODKEY001")) },
        RuleCase("BadEnvironmentKeyInToken", { $0.trust.otherEnvironment = .badEnvironmentKey }) {
            try $0.client().exchange(try $0.push(keyID: "PRODKEY001"))
        },
        RuleCase("TooManyProviderTokenUpdates") {
            let client = try $0.client()
            _ = try client.exchange(try $0.push())
            return try client.exchange(try $0.push(minutesLater: 1))
        },
        RuleCase("BadCertificate") {
            let certificate = try $0.certificate()
            $0.simulator.control.setCertificate(certificate.serialNumber, isRevoked: true)
            return try $0.client(certificate).exchange(try $0.push())
        },
        RuleCase("BadCertificateEnvironment") {
            try $0.client(try $0.certificate(for: [.production])).exchange(try $0.push())
        },
    ]

    static let service: [RuleCase] = [
        RuleCase("TooManyRequests", { $0.limits.devicePushes = .init(pushes: 1, period: 1000) }) {
            let client = try $0.client()
            _ = try client.exchange(try $0.push())
            return try client.exchange(try $0.push())
        },
        RuleCase("Shutdown") {
            $0.simulator.control.setShutDown(true)
            return try $0.client().exchange(try $0.push())
        },
    ]

    @Test("A broken rule is answered with its reason and Apple's status", arguments: requests + credentials + service)
    func rule(_ given: RuleCase) async throws {
        let maker = try TokenMaker()
        func key(_ id: String, _ team: String = "DEF7654321") -> ProviderKey {
            ProviderKey(keyID: id, teamID: team, publicKey: maker.key.publicKey)
        }
        var topicKey = key("TOPICKEY01")
        topicKey.topics = ["com.example.app"]
        var productionKey = key("PRODKEY001")
        productionKey.environment = .production
        let keys = [key("ABC1234567"), topicKey, productionKey, key("OTHERTEAM1", "ZZZ7654321")]
        try await SimulatorBench.with({
            $0.acceptsAnyKey = false
            $0.keys = keys
            given.configure(&$0)
        }) { simulator in
            let answer = try given.request(RuleBench(simulator: simulator, maker: maker))
            let documented = try #require(Refusal.documented(reason: given.reason))
            #expect(answer.reason == given.reason)
            #expect(answer.status == documented.status)
            #expect(answer.headers["apns-id"] != nil)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(simulator.ledger.records().last?.label == given.reason)
        }
    }

    @Test("A connection that was idle for too long is told so in the answer, where its client is faster than GOAWAY")
    func idleTimeout() async throws {
        let maker = try TokenMaker()
        try await SimulatorBench.with({ $0.limits.idleTimeout = 60_000 }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            // Two silent streams keep the connection from being idle, but not the time from passing.
            try client.wait { client.settings.count == 2 }
            try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("0ff00000")))
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.advanceClock(milliseconds: 60_001)
            let late = try client.exchange(try SimulatorBench.push(maker))
            #expect(late.status == 400 && late.reason == "IdleTimeout")
            try client.wait { client.goAways.count == 1 }
        }
    }

    @Test("Reasons that no rule of the gateway can bring are those of devices, broadcast channels and failing servers")
    func complete() {
        let reached = Set((Self.requests + Self.credentials + Self.service).map(\.reason)).union(["IdleTimeout"])
        let others = Set(Refusal.documented.map(\.reason)).subtracting(reached)
        #expect(others == ["Unregistered", "ExpiredToken", "InternalServerError", "ServiceUnavailable"])
    }

    @Test("Simulator lists the reasons that pushes to devices meet, and no other")
    func page() throws {
        let listed = try Page(documentation: "Simulator").names("reason", in: "What chooses an answer")
        let reasons = (Refusal.documented + Refusal.observed).map(\.reason)
        #expect(listed.sorted() == reasons.sorted())
    }

    @Test("Every reason is there for a scenario, with its status", arguments: Refusal.known)
    func script(_ refusal: Refusal) async throws {
        let maker = try TokenMaker()
        let scenario = try Scenario(
            yaml: "rules: [{ verdict: { reason: \(refusal.reason), retry_after: 7 } }]", name: "s")
        try await SimulatorBench.with({ $0.scenario = scenario }) { simulator in
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            #expect(answer.status == refusal.status)
            #expect(answer.body == "{\"reason\":\"\(refusal.reason)\"}")
            #expect(answer.headers["retry-after"] == "7")
        }
    }
}
