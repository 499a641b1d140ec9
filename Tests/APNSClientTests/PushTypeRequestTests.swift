import APNSSimulator
import EventLoop
import Foundation
import PushModel
import TLS
import Testing

@testable import APNSClient

@Suite("Push types against the simulator", .timeLimit(.minutes(1)))
struct PushTypeRequestTests {
    @Test("every push type of Apple's list passes the simulator's rules with its topic, by name and by suffix alone")
    func everyType() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("types-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(stateDirectory: folder.path)
        configuration.environment = .production
        configuration.adminPort = nil
        configuration.keys = [ProviderKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: key.publicKey)]
        let simulator = try await APNSSimulator.start(configuration)
        do {
            let driver = try PoolDriver(
                loop: try EventLoop(), port: simulator.port,
                trust: TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM]),
                tokens: ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key))
            let types: [PushType] = [
                .alert, .background, .complication, .controls, .fileProvider, .liveActivity, .location, .mdm,
                .pushToTalk, .voip, .widgets,
            ]
            for type in types {
                for field in [#","push_type":"\#(type.text)""#, ""] where !(field.isEmpty && type == .mdm) {
                    try driver.send(try job("com.example.app\(type.topicSuffix)", type, field), count: 1)
                    #expect(
                        driver.statuses.last == 200,
                        "\(type) \(driver.answers.last?.answer.response?.reason?.rawValue ?? "")")
                }
            }
            #expect(driver.answers.count == 2 * types.count - 1)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    private func job(_ topic: String, _ type: PushType, _ field: String) throws -> Job {
        let payload =
            type == .background ? #"{"aps":{"content-available":1}}"# : #"{"aps":{"alert":"hi","content-state":{}}}"#
        let text = #"{"device_token":"\#(Jobs.token)","payload":\#(payload)\#(field)}"#
        let key = "production.normal.\(topic)"
        let bytes = Array("\(key)application/json\(text)".utf8)
        let body = (bytes.count - text.utf8.count)..<bytes.count
        let message = JobMessage(
            bytes: bytes, routingKey: 0..<key.utf8.count, contentType: key.utf8.count..<body.lowerBound, body: body)
        return try JobDecoder().decode(message, now: 1_763_712_800_100, random: { 7 }).get()
    }
}
