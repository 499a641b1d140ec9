import HTTP2
import Testing
import Text

@testable import APNSSimulator

@Suite("A gateway that loses its patience", .timeLimit(.minutes(1)))
struct PatienceTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private var bad: RequestBuilder {
        get throws { try SimulatorBench.push(maker).with("apns-topic", "no topic") }
    }

    @Test("Errors take streams away, 410 does not, and the next accepted push gives them back")
    func shrinking() async throws {
        try await SimulatorBench.with({ $0.limits.errorsUntilShrink = 2 }) { simulator in
            let client = try RawClient(simulator)
            let good = try SimulatorBench.push(maker)
            #expect(try client.exchange(try bad).status == 400)
            #expect(client.settings.count == 1)
            #expect(try client.exchange(good).status == 200)
            try client.wait { client.settings.count == 2 }
            for _ in 0..<5 { #expect(try client.exchange(good.token(Tokens.beginning("dead0410"))).status == 410) }
            for _ in 0..<2 { #expect(try client.exchange(try bad).status == 400) }
            try client.wait { client.settings.count == 3 }
            #expect(try client.exchange(good).status == 200)
            try client.wait { client.settings.count == 4 }
            #expect(client.settings.map(\.maxConcurrentStreams) == [1, 1000, 1, 1000])
        }
    }

    @Test(
        "Too many errors end in GOAWAY with their reason, after every push was answered",
        arguments: [("bad00400", "BadDeviceToken", 2), ("bad05400", "BadTopic", 8)])
    func disconnection(_ prefix: String, _ reason: String, _ count: Int) async throws {
        try await SimulatorBench.with({ $0.limits.errorsUntilDisconnect = 8 }) { simulator in
            let client = try RawClient(simulator)
            let push = try SimulatorBench.push(maker).token(Tokens.beginning(prefix))
            for _ in 0..<count { #expect(try client.exchange(push).reason == reason) }
            try client.waitForEnd()
            #expect(
                client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [#"{"reason":"\#(reason)"}"#])
            #expect(try RawClient(simulator).exchange(try SimulatorBench.push(maker)).status == 200)
        }
    }

    @Test("An idle connection gets GOAWAY IdleTimeout, by the clock of the simulator, too")
    func idle() async throws {
        try await SimulatorBench.with({ $0.limits.idleTimeout = 3_600_000 }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.advanceClock(milliseconds: 3_599_000)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.advanceClock(milliseconds: 3_600_000)
            try client.waitForEnd()
            #expect(
                client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [#"{"reason":"IdleTimeout"}"#])
        }
        try await SimulatorBench.with({ $0.limits.idleTimeout = 50 }) { simulator in
            let client = try RawClient(simulator)
            try client.waitForEnd()
            #expect(client.goAways.count == 1)
        }
    }

    @Test("Who opens too many connections is not served for a minute")
    func churn() async throws {
        try await SimulatorBench.with({ $0.limits.connectionsPerMinute = 3 }) { simulator in
            let clients = try (0..<3).map { _ in try RawClient(simulator) }
            for client in clients { #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200) }
            #expect(throws: (any Error).self) { _ = try RawClient(simulator) }
            simulator.control.advanceClock(milliseconds: 60_000)
            #expect(try RawClient(simulator).settings.count == 1)
        }
    }

    @Test("A header list over 8000 bytes is answered 431, one below is judged")
    func headerList() async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            let good = try SimulatorBench.push(maker)
            let size = good.headers.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 } + 38
            let room = 8000 - size
            #expect(try client.exchange(good.with("x-long", String(repeating: "x", count: room))).status == 200)
            #expect(try client.exchange(good.with("x-long", String(repeating: "x", count: room + 1))).status == 431)
            #expect(try client.exchange(good).status == 200)
        }
    }

    @Test("The service goes down in good order, refuses what still comes, and returns")
    func shutdown() async throws {
        try await SimulatorBench.with { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.setShutDown(true)
            try client.waitForEnd()
            #expect(client.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [#"{"reason":"Shutdown"}"#])
            let late = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            #expect(late.status == 503 && late.reason == "Shutdown")
            simulator.control.setShutDown(false)
            #expect(try RawClient(simulator).exchange(try SimulatorBench.push(maker)).status == 200)
        }
    }

    @Test("A device that gets too much is throttled alone")
    func throttle() async throws {
        try await SimulatorBench.with({ $0.limits.devicePushes = .init(pushes: 2, period: 60_000) }) { simulator in
            let client = try RawClient(simulator)
            let push = try SimulatorBench.push(maker)
            #expect(try (0..<3).map { _ in try client.exchange(push).status } == [200, 200, 429])
            #expect(try client.exchange(push.token(Tokens.beginning("ab"))).status == 200)
            simulator.control.advanceClock(milliseconds: 60_000)
            #expect(try client.exchange(push).status == 200)
        }
    }
}
