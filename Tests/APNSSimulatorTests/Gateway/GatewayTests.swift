import EventLoop
import HTTP2
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("The gateway, seen from its wire", .timeLimit(.minutes(1)))
struct GatewayTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    @Test("A good push is answered 200 with its own apns-id, and stands in the ledger")
    func accepted() async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            let id = "0193C0DE-7A5B-7C3D-9E10-2F6B1A7C8D90"
            let answer = try client.exchange(try SimulatorBench.push(maker).with("apns-id", id))
            #expect(answer.status == 200)
            #expect(answer.headers["apns-id"] == id)
            #expect(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? "") != nil)
            #expect(answer.body.isEmpty)
            let record = try #require(simulator.ledger.records().first)
            #expect(record.token == RequestBuilder.token)
            #expect(record.id.description == id.lowercased())
            #expect(record.topic == "com.example.app")
            #expect(record.status == 200)
            #expect(record.connection == 1)
        }
    }

    @Test("A request without apns-id gets one, in production without apns-unique-id")
    func identifiers() async throws {
        try await SimulatorBench.with({ $0.environment = .production }) { simulator in
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            #expect(UUIDBytes.parse(answer.headers["apns-id"] ?? "") != nil)
            #expect(answer.headers["apns-unique-id"] == nil)
        }
    }

    @Test("Answers tell the time where that was chosen, by the simulator's clock, and else not")
    func date() async throws {
        try await SimulatorBench.with { simulator in
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            #expect(answer.status == 200 && answer.headers["date"] == nil)
        }
        try await SimulatorBench.with({ $0.sendsDate = true }) { simulator in
            let before = WallClock.milliseconds() / 1000
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            let after = WallClock.milliseconds() / 1000
            let possible = (before...after).map { HTTPDate.text(milliseconds: $0 * 1000) }
            #expect(answer.status == 200 && possible.contains(answer.headers["date"] ?? ""))
        }
    }

    @Test("Clients without ALPN are served, too")
    func withoutALPN() async throws {
        try await SimulatorBench.with { simulator in
            let answer = try RawClient(simulator, protocols: []).exchange(try SimulatorBench.push(maker))
            #expect(answer.status == 200)
        }
    }

    @Test("SETTINGS are those of APNs: one stream until a valid token, then a thousand")
    func settings() async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            let first = try #require(client.settings.first)
            #expect(first.headerTableSize == 4096)
            #expect(first.maxConcurrentStreams == 1)
            #expect(first.initialWindowSize == 65_535)
            #expect(first.maxFrameSize == 16_384)
            #expect(first.maxHeaderListSize == 8000)
            #expect(try client.exchange(RequestBuilder()).status == 403)
            #expect(client.settings.count == 1)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            try client.wait { client.settings.count == 2 }
            #expect(client.settings.last?.maxConcurrentStreams == 1000)
        }
    }

    @Test("A fixed number of streams is announced once")
    func fixedStreams() async throws {
        try await SimulatorBench.with({ $0.streams = .fixed(7) }) { simulator in
            let client = try RawClient(simulator)
            #expect(client.settings.first?.maxConcurrentStreams == 7)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(client.settings.count == 1)
        }
    }

    @Test("Every documented reason reaches a client, with JSON and an apns-id", arguments: Refusal.known.indices)
    func reasons(_ index: Int) async throws {
        let refusal = Refusal.known[index]
        let number = Refusal.known[..<index].count { $0.status == refusal.status }
        let prefix = "bad\(number < 10 ? "0" : "")\(number)\(refusal.status)"
        try await SimulatorBench.with { simulator in
            let answer = try RawClient(simulator).exchange(
                try SimulatorBench.push(maker).token(Tokens.beginning(prefix)))
            #expect(answer.status == refusal.status)
            #expect(answer.reason == refusal.reason)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["apns-id"] != nil)
            #expect(answer.body.contains("timestamp") == (refusal.status == 410))
        }
    }

    @Test("Broken rules are answered by the wire as by the table", arguments: PushRulesTests.headers)
    func rules(_ given: PushRulesTests.Case) async throws {
        try await SimulatorBench.with { simulator in
            let good = try SimulatorBench.push(maker)
            let authorization = try #require(good.headers.first { $0.0 == "authorization" }?.1)
            let answer = try RawClient(simulator).exchange(given.request.with("authorization", authorization))
            #expect(answer.status == given.refusal?.status ?? 200)
            #expect(answer.reason == given.refusal?.reason ?? "")
        }
    }

    @Test("Keys given are verified, bound to the connection and to their topics")
    func keys() async throws {
        let other = try TokenMaker()
        try await SimulatorBench.with({
            $0.acceptsAnyKey = false
            $0.keys = [
                ProviderKey(
                    keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey,
                    topics: ["com.example.app"]),
                ProviderKey(keyID: "OTHER00000", teamID: "DEF7654321", publicKey: other.key.publicKey),
                ProviderKey(
                    keyID: "DEVONLY000", teamID: "DEF7654321", publicKey: other.key.publicKey, environment: .production),
            ]
        }) { simulator in
            let client = try RawClient(simulator)
            let good = try SimulatorBench.push(maker)
            #expect(try client.exchange(good.with("authorization", nil)).reason == "MissingProviderToken")
            #expect(try client.exchange(try SimulatorBench.push(other)).reason == "InvalidProviderToken")
            #expect(
                try client.exchange(try SimulatorBench.push(other, keyID: "DEVONLY000")).reason
                    == "BadEnvironmentKeyIdInToken")
            #expect(try client.exchange(good).status == 200)
            #expect(try client.exchange(good.with("apns-topic", "com.other")).reason == "TopicDisallowed")
            let unrelated = try SimulatorBench.push(other, keyID: "OTHER00000")
            #expect(try client.exchange(unrelated).reason == "UnrelatedKeyIdInToken")
            #expect(try RawClient(simulator).exchange(unrelated).status == 200)
            let old = try maker.bearer(issuedAt: WallClock.milliseconds() / 1000 - 3700)
            #expect(try client.exchange(good.with("authorization", old)).reason == "ExpiredProviderToken")
        }
    }

    @Test("Payloads up to the limit arrive whole, longer ones are refused")
    func payloads() async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            let good = try SimulatorBench.push(maker)
            #expect(try client.exchange(good.payload(payload(bytes: 4096))).status == 200)
            #expect(try client.exchange(good.payload(payload(bytes: 4097))).status == 413)
            #expect(try client.exchange(good.payload(payload(bytes: 60_000))).status == 413)
            #expect(try client.exchange(good.payload("")).reason == "PayloadEmpty")
            #expect(simulator.ledger.records().first?.payloadBytes == 4096)
        }
    }
}
