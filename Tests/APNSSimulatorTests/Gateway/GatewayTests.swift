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
            #expect(MessageID(parsing: Array((answer.headers["apns-unique-id"] ?? "").utf8)) != nil)
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
            #expect(MessageID(parsing: Array((answer.headers["apns-id"] ?? "").utf8)) != nil)
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
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker).token(token(prefix)))
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

@Suite("Faults on the wire", .timeLimit(.minutes(1)))
struct GatewayFaultTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func opened(_ simulator: RunningSimulator) throws -> RawClient {
        let client = try RawClient(simulator)
        _ = try client.exchange(try SimulatorBench.push(maker))
        try client.wait { client.settings.count == 2 }
        return client
    }

    @Test("A reset arrives with its code")
    func reset() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let answer = try client.exchange(try SimulatorBench.push(maker).token(token("c0de0008")))
            guard case .reset(let code) = answer.closure else {
                Issue.record("not reset")
                return
            }
            #expect(code.rawValue == 8)
            #expect(simulator.ledger.records().last?.label == "reset:CANCEL")
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
        }
    }

    @Test("A silent stream stays open while others are answered")
    func silent() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let silent = try client.send(try SimulatorBench.push(maker).token(token("0ff00000")))
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(client.answers[silent]?.closure == nil)
            #expect(simulator.ledger.records(token: token("0ff00000")).map(\.label) == ["silent"])
        }
    }

    @Test("A delayed answer comes later than one sent after it")
    func delay() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let slow = try client.send(try SimulatorBench.push(maker).token(token("de1a000150")))
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(client.answers[slow]?.closure == nil)
            try client.wait { client.answers[slow]?.closure != nil }
            #expect(client.answers[slow]?.status == 200)
        }
    }

    @Test("Failures come first, then success")
    func failing() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let push = try SimulatorBench.push(maker).token(token("fa112429"))
            #expect(try (0..<3).map { _ in try client.exchange(push).status } == [429, 429, 200])
        }
    }

    @Test("A polite GOAWAY answers the push, then the connection ends")
    func politeGoAway() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let answer = try client.exchange(try SimulatorBench.push(maker).token(token("90a00000")))
            #expect(answer.status == 200)
            try client.waitForEnd()
            let goAway = try #require(client.goAways.last)
            #expect(goAway.lastStreamID == 3)
            #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
        }
    }

    @Test("A GOAWAY before a push leaves it provably unprocessed")
    func goAwayBefore() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let tag = try client.send(try SimulatorBench.push(maker).token(token("90a10000")))
            try client.waitForEnd()
            #expect(client.goAways.last?.lastStreamID == 1)
            guard case .unprocessed = client.answers[tag]?.closure else {
                Issue.record("not unprocessed")
                return
            }
        }
    }

    @Test("A GOAWAY that includes a push leaves it unanswered")
    func goAwayUnanswered() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let tag = try client.send(try SimulatorBench.push(maker).token(token("90a20000")))
            try client.waitForEnd()
            #expect(client.goAways.last?.lastStreamID == 3)
            guard case .lost = client.answers[tag]?.closure else {
                Issue.record("not lost: \(String(describing: client.answers[tag]?.closure))")
                return
            }
        }
    }

    @Test("A connection is cut without a word")
    func cut() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            try client.send(try SimulatorBench.push(maker).token(token("c105ed00")))
            try client.waitForEnd()
            #expect(client.goAways.isEmpty)
            #expect(simulator.ledger.records().last?.label == "close")
        }
    }

    @Test("A client that speaks no TLS, or TLS and no HTTP/2, is let go and hurts nobody")
    func strangers() async throws {
        try await SimulatorBench.with { simulator in
            let stranger = try Socket.connect(to: .loopback(port: simulator.port), timeout: .seconds(5))
            _ = try stranger.write(Array("GET / HTTP/1.1\r\n\r\n".utf8).span)
            var buffer = [UInt8](repeating: 0, count: 1024)
            var isClosed = false
            while !isClosed {
                _ = try stranger.wait(for: .readable, timeout: .seconds(10))
                do { isClosed = try stranger.read(into: &buffer) == .closed } catch { isClosed = true }
            }
            #expect(try RawClient(simulator).exchange(try SimulatorBench.push(maker)).status == 200)
        }
    }

    @Test("The authority is kept across starts, and its key is readable by its owner only")
    func authority() async throws {
        try await SimulatorBench.with { first in
            let directory = String(first.authorityFile.dropLast("/ca.pem".count))
            await first.stop()
            try await SimulatorBench.with({ $0.stateDirectory = directory }) { second in
                #expect(second.authorityPEM == first.authorityPEM)
                let mode = try await SimulatorBench.run("/usr/bin/stat", ["-c", "%a", directory + "/ca-key.pem"])
                #expect(mode.output == "600\n")
            }
        }
    }
}
