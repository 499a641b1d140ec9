import Foundation
import HTTP2
import LocalStack
import TestSupport
import Testing

@testable import APNSSimulator

@Suite("GOAWAY and the answers before it", .timeLimit(.minutes(1)))
struct GoAwayTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private var push: RequestBuilder { get throws { try SimulatorBench.push(maker) } }

    private func withScenario(
        _ yaml: String, devices: Bool = false, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        let scenario = try Scenario(yaml: yaml, name: "scenario")
        try await SimulatorBench.with(
            {
                $0.scenario = scenario
                if devices { $0.devices.port = 0 }
            }, body)
    }

    private struct Order: Encodable {
        var port: Int
        var authority: String
        var authorization: String
        var topic = "com.example.app"
        var token = RequestBuilder.token
        var pushes: Int
    }

    private struct Outcome: Decodable {
        var answered: Int
        var last: Int32?
    }

    private func runPython(_ order: Order) async throws -> Outcome {
        let resources = try #require(Bundle.module.resourceURL)
        let script = resources.appending(path: "Fixtures/push_h2.py").path
        let input = [UInt8](try JSONEncoder().encode(order))
        let outcome = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try PythonEnvironment.run(script, input: input, timeout: .seconds(45)) })
            }
        }
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return try JSONDecoder().decode(Outcome.self, from: Data(outcome.text.utf8))
    }

    @Test("A client that still sends after the GOAWAY gets every answer that was given")
    func everyAnswerArrives() async throws {
        let goodbye = "goaway: { after_pushes: 600, reason: Shutdown, twice: true }"
        try await withScenario("connections: [{ streams: 100000, \(goodbye) }]") { simulator in
            let outcome = try await runPython(
                Order(
                    port: simulator.port, authority: simulator.authorityFile,
                    authorization: try maker.bearer(issuedAt: maker.issuedAt), pushes: 2000))
            #expect(simulator.ledger.records().count { $0.status == 200 } == 600)
            #expect(outcome.answered == 600)
            #expect(outcome.last == 1199)
        }
    }

    @Test("The GOAWAY stands behind the end of the last answer", arguments: [false, true])
    func frameOrder(_ devices: Bool) async throws {
        let yaml = "connections: [{ streams: 100, goaway: { after_pushes: 3, reason: Shutdown } }]"
        try await withScenario(yaml, devices: devices) { simulator in
            let client = try RawClient(simulator)
            let refused = try push.token(Tokens.beginning("bad00400"))
            let tags = try client.send([try push, refused, refused])
            try client.waitForEnd()
            #expect(tags.map { client.answers[$0]?.status } == [200, 400, 400])
            let ends = client.frames.indices.filter { client.frames[$0].endsStream }
            #expect(Set(ends.map { client.frames[$0].stream }) == [1, 3, 5])
            let goAway = try #require(client.frames.firstIndex { $0.type == RawFrame.goAway })
            #expect(ends.allSatisfy { $0 < goAway })
            #expect(client.goAways.map(\.lastStreamID) == [5])
        }
    }

    @Test("A stream that is never answered does not hold the GOAWAY back")
    func silentStream() async throws {
        let yaml = "connections: [{ streams: 100, goaway: { after_pushes: 2, reason: Shutdown } }]"
        try await withScenario(yaml) { simulator in
            let client = try RawClient(simulator)
            try client.send(try push.token(Tokens.beginning("0ff00000")))
            #expect(try client.exchange(try push).status == 200)
            try client.wait { client.goAways.map(\.lastStreamID) == [3] }
        }
    }

    @Test("A stream above the limit is answered GOAWAY 7 with the text that APNs was seen to send")
    func excessStream() async throws {
        try await SimulatorBench.with({ $0.streams = .fixed(1) }) { simulator in
            let client = try RawClient(simulator)
            try client.send(try push.token(Tokens.beginning("0ff00000")))
            // HEADERS of stream 3 with END_STREAM and END_HEADERS: POST, https, /.
            try client.write([0, 0, 3, 1, 5, 0, 0, 0, 3, 0x83, 0x87, 0x84])
            try client.waitForEnd()
            #expect(client.goAways.map(\.code) == [.refusedStream])
            #expect(client.goAways.map(\.lastStreamID) == [1])
            #expect(
                client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [
                    "Maximum active streams violated for this endpoint."
                ])
        }
    }

    @Test("An accepted push whose answer is delayed is answered before the GOAWAY for a stream above the limit")
    func excessStreamBesideDelay() async throws {
        let yaml = "rules: [{ verdict: { delay: 10s } }]\nconnections: [{ streams: 1 }]"
        try await withScenario(yaml) { simulator in
            let client = try RawClient(simulator)
            let tag = try client.send(try push)
            try client.write([0, 0, 3, 1, 5, 0, 0, 0, 3, 0x83, 0x87, 0x84])
            try client.waitForEnd()
            #expect(client.answers[tag]?.status == 200)
            #expect(client.goAways.map(\.code) == [.refusedStream])
            #expect(simulator.ledger.records().map(\.status) == [200])
        }
    }
}
