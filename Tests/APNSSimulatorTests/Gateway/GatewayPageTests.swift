import TestSupport
import Testing

@testable import APNSSimulator

@Suite("The page about what the simulator does by itself", .timeLimit(.minutes(1)))
struct GatewayPageTests {
    private let rows: [[String]]

    init() throws { rows = try Page(documentation: "Simulator").rows("subject", in: "What it does otherwise") }

    private func behaviour(_ subject: String) throws -> String { try #require(rows.first { $0[0] == subject })[1] }

    @Test("Simulator says how many streams a connection has, and what a client that opens more is told")
    func streams() throws {
        let streams = SimulatorConfiguration(stateDirectory: "").streams
        #expect(streams.initial == 1)
        let full = Page.number(Int(streams.full))
        #expect(
            try behaviour("streams").hasPrefix("one at first on a token connection, \(full) after the first push;"))
        let text = try behaviour("streams above the limit")
        #expect(text.hasPrefix("GOAWAY with code 7, `\(PushSession.excessStreamText)`;"))
    }

    @Test("Simulator says how patient a gateway is by itself")
    func patience() throws {
        let limits = GatewayLimits()
        #expect(limits.badDeviceTokenWeight == 4)
        let connections = "more than \(Page.number(limits.connectionsPerMinute)) new connections a minute"
        #expect(
            try behaviour("patience")
                == "GOAWAY after \(limits.errorsUntilDisconnect) errors more than successes, "
                + "`\(Refusal.badDeviceToken.reason)` counting four; idle connections, \(connections) "
                + "(`limits: connections_per_minute`); 431 over \(Page.number(limits.headerList)) bytes of headers")
        #expect(ConnectionGate.window == 60_000)
        let scenario = try Scenario(yaml: "limits: { connections_per_minute: 7 }", name: "s")
        #expect(scenario.limits?.connectionsPerMinute == 7)
    }

    @Test("Simulator says for how long a connection is read that was said goodbye to")
    func farewell() throws {
        #expect(GatewayConnection.farewellTime == 2_000)
        #expect(try behaviour("GOAWAY").hasSuffix("the connection is read until the client ends it, for two seconds"))
    }

    @Test("Simulator says for how long notifications and messages wait for devices")
    func storage() throws {
        let days = StoredNotification.longestStorage / 86_400_000
        #expect(try behaviour("store and forward").hasSuffix("expiration 0, a date, or \(days) days"))
        #expect(BroadcastChannelRegistry.longestStorage == 8 * 3_600_000)
        let stored = try behaviour("broadcast channels")
        #expect(stored.hasSuffix("a storing broadcast channel keeps the newest for eight hours"))
    }
}
