import EventLoop
import HTTP2
import TLS
import Testing
import Text

@testable import APNSSimulator

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
            let answer = try client.exchange(try SimulatorBench.push(maker).token(Tokens.beginning("c0de0008")))
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
            let silent = try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("0ff00000")))
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(client.answers[silent]?.closure == nil)
            #expect(simulator.ledger.records(token: Tokens.beginning("0ff00000")).map(\.label) == ["silent"])
        }
    }

    @Test("A delayed answer comes later than one sent after it")
    func delay() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let slow = try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("de1a002000")))
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
            let push = try SimulatorBench.push(maker).token(Tokens.beginning("fa112429"))
            #expect(try (0..<3).map { _ in try client.exchange(push).status } == [429, 429, 200])
        }
    }

    @Test("A polite GOAWAY answers the push, then the connection ends")
    func politeGoAway() async throws {
        try await SimulatorBench.with { simulator in
            let client = try opened(simulator)
            let answer = try client.exchange(try SimulatorBench.push(maker).token(Tokens.beginning("90a00000")))
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
            let tag = try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("90a10000")))
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
            let tag = try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("90a20000")))
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
            try client.send(try SimulatorBench.push(maker).token(Tokens.beginning("c105ed00")))
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
