import APNSSimulator
import EventLoop
import Foundation
import PushModel
import TLS
import Testing

@testable import APNSClient

@Suite("A pool against the simulator", .timeLimit(.minutes(1)))
struct SimulatorTests {
    /// Runs the simulator with a key, and a pool that signs with it.
    private func withSimulator(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ pool: (inout APNSPoolConfiguration) -> Void = { _ in },
        _ body: (PoolDriver, RunningSimulator) throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("simulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(stateDirectory: folder.path)
        configuration.environment = .production
        configuration.adminPort = nil
        configuration.keys = [ProviderKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: key.publicKey)]
        change(&configuration)
        let simulator = try await APNSSimulator.start(configuration)
        do {
            let driver = try PoolDriver(
                loop: try EventLoop(), port: simulator.port,
                trust: TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM]),
                tokens: ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key), pool)
            try body(driver, simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    @Test("Two thousand pushes pass its rules, on one connection, each received once")
    func accepted() async throws {
        try await withSimulator { driver, simulator in
            try driver.send(try Jobs.make(#""push_type":"alert","expiration":0,"collapse_id":"c""#), count: 2_000)
            #expect(driver.statuses.allSatisfy { $0 == 200 })
            #expect(simulator.ledger.records(token: Jobs.token).count == 2_000)
            #expect(simulator.counters.connectionsAccepted == 1)
        }
    }

    @Test(
        "Verdicts chosen by the device token arrive as they are",
        arguments: [
            ("dead0410", 410, "Unregistered"), ("dead1410", 410, "ExpiredToken"),
            ("bad99400", 400, "SimulatedUnknownReason"), ("fa111500", 500, "InternalServerError"),
        ])
    func verdicts(prefix: String, status: Int, reason: String) async throws {
        let token = prefix + String(Jobs.token.dropFirst(prefix.count))
        try await withSimulator { driver, _ in
            try driver.send(try Jobs.make(token: token), count: 1)
            let response = try #require(driver.answers.first?.answer.response)
            #expect(response.status == status)
            #expect(response.reason?.rawValue == reason)
            #expect((response.timestamp != nil) == (status == 410))
        }
    }

    @Test(
        "Refused streams and GOAWAY are unprocessed, other resets are unanswered",
        arguments: [("c0de0007", true), ("c0de0002", false), ("90a10000", true)])
    func streams(prefix: String, isUnprocessed: Bool) async throws {
        let token = prefix + String(Jobs.token.dropFirst(prefix.count))
        try await withSimulator { driver, _ in
            try driver.send(try Jobs.make(), count: 1)
            try driver.send(try Jobs.make(token: token), count: 1)
            #expect(driver.answers.last?.answer.isUnprocessed == isUnprocessed)
            try driver.send(try Jobs.make(), count: 10)
            #expect(driver.statuses.suffix(10).allSatisfy { $0 == 200 })
        }
    }

    @Test("A token that gets no answer does not hold the others up")
    func silent() async throws {
        let token = "0ff00000" + String(Jobs.token.dropFirst(8))
        try await withSimulator({ _ in }, { $0.requestTimeout = .seconds(1) }) { driver, _ in
            try driver.send(try Jobs.make(), count: 1)
            driver.submit(try Jobs.make(token: token), tags: 5_000...5_000)
            try driver.send(try Jobs.make(), count: 100)
            #expect(driver.statuses.suffix(100).allSatisfy { $0 == 200 })
            try driver.turn { driver.answers.contains { $0.tag == 5_000 } }
            #expect(driver.answers.last { $0.tag == 5_000 }?.answer.cause == .deadline)
        }
    }

    @Test("A key the simulator does not know is refused with InvalidProviderToken, one request at a time")
    func unknownKey() async throws {
        try await withSimulator({ $0.keys = [] }) { driver, _ in
            try driver.send(try Jobs.make(), count: 1)
            #expect(driver.answers.first?.answer.response?.reason == .invalidProviderToken)
        }
    }
}
