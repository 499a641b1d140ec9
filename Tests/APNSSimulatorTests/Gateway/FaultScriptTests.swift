import EventLoop
import HTTP2
import TLS
import Testing

@testable import APNSSimulator

@Suite("Faults on a script", .timeLimit(.minutes(1)))
struct FaultScriptTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private var push: RequestBuilder { get throws { try SimulatorBench.push(maker) } }

    /// Runs a body beside a simulator with a scenario.
    private func withScenario(_ yaml: String, _ body: (RunningSimulator) async throws -> Void) async throws {
        let scenario = try Scenario(yaml: yaml, name: "scenario")
        try await SimulatorBench.with({ $0.scenario = scenario }, body)
    }

    private func text(_ goAway: HTTP2GoAway) -> String { String(decoding: goAway.debugData, as: UTF8.self) }

    @Test("A lost answer leaves the stream open, and the push accepted in the ledger")
    func lostSilently() async throws {
        try await withScenario("rules: [{ match: { token: abcd }, verdict: { lose: silent } }]") { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push).status == 200)
            try client.wait { client.settings.count == 2 }
            let lost = try client.send(try push.token(Tokens.beginning("abcd")))
            #expect(try client.exchange(try push).status == 200)
            #expect(client.answers[lost]?.closure == nil)
            let record = try #require(simulator.ledger.records(token: Tokens.beginning("abcd")).first)
            #expect(record.status == 200)
            #expect(record.label == "answer lost: silent")
        }
    }

    @Test("A lost answer may take its stream or its connection along", arguments: ["reset", "close"])
    func lost(_ loss: String) async throws {
        try await withScenario("rules: [{ match: { token: abcd }, verdict: { lose: \(loss) } }]") { simulator in
            let client = try RawClient(simulator)
            let lost = try client.send(try push.token(Tokens.beginning("abcd")))
            if loss == "close" {
                try client.waitForEnd()
            } else {
                try client.wait { client.answers[lost]?.closure != nil }
            }
            switch client.answers[lost]?.closure {
            case .reset(let code): #expect(loss == "reset" && code == .internalError)
            case .lost: #expect(loss == "close")
            default: Issue.record("neither reset nor lost")
            }
            #expect(simulator.ledger.records().map(\.status) == [200])
        }
    }

    @Test("A frozen socket says nothing and stays open; one frozen for a time goes on")
    func frozen() async throws {
        let yaml = """
            rules:
              - { match: { token: aaaa }, verdict: { freeze: true } }
              - { match: { token: bbbb }, verdict: { freeze: 150ms } }
            """
        try await withScenario(yaml) { simulator in
            let client = try RawClient(simulator)
            let before = MonotonicTime.now()
            #expect(try client.exchange(try push.token(Tokens.beginning("bbbb"))).status == 200)
            #expect(MonotonicTime.now().nanoseconds(since: before) >= 149_000_000)
            #expect(try client.exchange(try push).status == 200)
            let dead = try RawClient(simulator)
            let tag = try dead.send(try push.token(Tokens.beginning("aaaa")))
            #expect(try dead.staysSilent(milliseconds: 200))
            #expect(dead.answers[tag]?.closure == nil && !dead.isClosed)
        }
    }

    @Test("The number of streams drops on the way, and the next accepted push restores it")
    func streams() async throws {
        try await withScenario("rules: [{ match: { token: abcd }, verdict: { streams: 3 } }]") { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push).status == 200)
            #expect(try client.exchange(try push.token(Tokens.beginning("abcd"))).status == 200)
            try client.wait { client.settings.last?.maxConcurrentStreams == 3 }
            #expect(try client.exchange(try push).status == 200)
            try client.wait { client.settings.last?.maxConcurrentStreams == 1000 }
        }
    }

    @Test("GOAWAY comes twice, in plain text, or leaves the socket open")
    func goAwayVariants() async throws {
        let yaml = """
            rules:
              - { match: { token: aaaa }, verdict: { goaway: { reason: BadCertificateEnvironment, twice: true } } }
              - { match: { token: bbbb }, verdict: { goaway: { code: 7, text: Maximum active streams violated. } } }
              - { match: { token: cccc }, verdict: { goaway: { reason: Shutdown, stay_open: true } } }
            """
        try await withScenario(yaml) { simulator in
            let twice = try RawClient(simulator)
            #expect(try twice.exchange(try push.token(Tokens.beginning("aaaa"))).status == 200)
            try twice.waitForEnd()
            #expect(twice.goAways.map(text) == Array(repeating: #"{"reason":"BadCertificateEnvironment"}"#, count: 2))
            let plain = try RawClient(simulator)
            #expect(try plain.exchange(try push.token(Tokens.beginning("bbbb"))).status == 200)
            try plain.waitForEnd()
            #expect(plain.goAways.map(text) == ["Maximum active streams violated."])
            #expect(plain.goAways.first?.code.rawValue == 7)
            let open = try RawClient(simulator)
            #expect(try open.exchange(try push.token(Tokens.beginning("cccc"))).status == 200)
            try open.wait { open.goAways.count == 1 }
            #expect(try open.staysSilent(milliseconds: 200))
            #expect(!open.isClosed)
        }
    }

    @Test("Connections are replaced by themselves, after pushes or time; open streams are answered first")
    func goodbyes() async throws {
        let yaml = """
            connections:
              - { match: { first: 1 }, goaway: { after_pushes: 3, reason: Shutdown } }
              - { match: { first: 1 }, goaway: { after: 50ms, reason: IdleTimeout } }
              - { match: { first: 1 }, close_after: 50ms }
            """
        try await withScenario(yaml) { simulator in
            let counted = try RawClient(simulator)
            #expect(try (0..<3).map { _ in try counted.exchange(try push).status } == [200, 200, 200])
            try counted.waitForEnd()
            #expect(counted.goAways.map(text) == [#"{"reason":"Shutdown"}"#])
            let timed = try RawClient(simulator)
            try timed.waitForEnd()
            #expect(timed.goAways.map(text) == [#"{"reason":"IdleTimeout"}"#])
            let cut = try RawClient(simulator)
            try cut.waitForEnd()
            #expect(cut.goAways.isEmpty)
        }
    }

    @Test("Addresses have troubles of their own")
    func addresses() async throws {
        let yaml = """
            listen: [127.0.0.2, 127.0.0.3]
            connections:
              - { match: { address: 127.0.0.3 }, refuse: true }
            rules:
              - { match: { address: 127.0.0.2 }, verdict: { reason: InternalServerError } }
            """
        try await withScenario(yaml) { simulator in
            let near = try RawClient(simulator)
            #expect(try near.exchange(try push).status == 200)
            #expect(try RawClient(simulator, address: "127.0.0.2").exchange(try push).status == 500)
            #expect(throws: (any Error).self) { _ = try RawClient(simulator, address: "127.0.0.3") }
            #expect(simulator.counters.connectionsAccepted == 3)
        }
    }

    @Test("A mute connection accepts and never speaks")
    func mute() async throws {
        try await withScenario("connections: [{ mute: true }]") { simulator in
            let socket = try Socket.connect(to: .loopback(port: simulator.port), timeout: .seconds(5))
            _ = try socket.write([22, 3, 1].span)
            #expect(try !socket.wait(for: .readable, timeout: .milliseconds(200)))
        }
    }

    @Test(
        "The server certificate goes bad while it runs, and becomes good again",
        arguments: [
            (ServerCertificateKind.expired, TLSError.Code.certificateExpired), (.wrongName, .hostNameMismatch),
            (.selfSigned, .certificateUntrusted),
        ])
    func serverCertificate(_ kind: ServerCertificateKind, _ code: TLSError.Code) async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            simulator.control.show(kind)
            let error = #expect(throws: TLSError.self) { _ = try RawClient(simulator) }
            #expect(error?.code == code)
            #expect(try client.exchange(try push).status == 200)
            simulator.control.show(.good)
            #expect(try RawClient(simulator).exchange(try push).status == 200)
        }
    }

    @Test("A storm of failures begins and ends by the simulator's clock, and another scenario begins at once")
    func storm() async throws {
        let yaml = "rules: [{ when: { from: 10m, until: 20m }, verdict: { reason: ServiceUnavailable } }]"
        try await withScenario(yaml) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try push).status == 200)
            simulator.control.advanceClock(milliseconds: 600_000)
            #expect(try client.exchange(try push).status == 503)
            simulator.control.advanceClock(milliseconds: 600_000)
            #expect(try client.exchange(try push).status == 200)
            simulator.control.use(try Scenario(yaml: "rules: [{ verdict: { reason: Unregistered } }]", name: "s"))
            #expect(try client.exchange(try push).status == 410)
        }
    }
}
