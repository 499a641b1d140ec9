import EventLoop
import Foundation
import Testing
import Text

@testable import APNSSimulator

@Suite("What a simulator remembers", .timeLimit(.minutes(1)))
struct RestartTests {
    let maker: TokenMaker
    let directory: String

    init() throws {
        maker = try TokenMaker()
        directory = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID().uuidString)").path
    }

    private func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, in place: String? = nil,
        _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        try await SimulatorBench.with(
            {
                $0.stateDirectory = place ?? directory
                $0.devices.port = 0
                $0.streams = .fixed(100)
                change(&$0)
            }, body)
    }

    /// Runs a body with the token of a device that is offline, and removes all files afterwards.
    private func withToken(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (RunningSimulator, String) async throws -> Void
    ) async throws {
        try await with(change) { simulator in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            await device.quit()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            try await body(simulator, token)
        }
    }

    private func push(_ token: String) throws -> RequestBuilder {
        try SimulatorBench.push(maker).token(token).type("alert", topic: "com.example.app")
    }

    private func uniqueID(_ answer: RawAnswer) throws -> UUIDBytes {
        try #require(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? ""))
    }

    @Test("The clock and what was revoked survive a restart, and a revocation can be taken back")
    func control() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var issued: ProviderCertificate?
        try await with { simulator in
            simulator.control.advanceClock(milliseconds: 600_000)
            simulator.control.setKey("ABC1234567", isRevoked: true)
            let certificate = try simulator.control.issue(ProviderCertificateRequest(topics: ["com.example.app"]))
            simulator.control.setCertificate(certificate.serialNumber.uppercased(), isRevoked: true)
            issued = certificate
        }
        try await with { simulator in
            #expect(simulator.control.clockAdvance == 600_000)
            let client = try RawClient(simulator)
            #expect(try client.exchange(try SimulatorBench.push(maker)).reason == "InvalidProviderToken")
            let trusted = try RawClient(simulator, certificate: issued)
            let request = RequestBuilder().with("authorization", nil)
            #expect(try trusted.exchange(request).reason == "BadCertificate")
            simulator.control.setKey("ABC1234567", isRevoked: false)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
        }
        try await with { simulator in
            let answer = try RawClient(simulator).exchange(try SimulatorBench.push(maker))
            #expect(answer.status == 200)
        }
    }

    @Test("A damaged file of clock and revocations is told, not ignored")
    func damagedControl() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: URL(filePath: "\(directory)/control.json"))
        await #expect(throws: SimulatorError.self) { try await with { _ in } }
    }

    @Test("The delivery log survives a restart, to the event")
    func deliveryLog() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var stories: [UUIDBytes: [String]] = [:]
        try await withToken { simulator, token in
            let client = try RawClient(simulator)
            for expiration in ["0", nil, nil] {
                let answer = try client.exchange(try push(token).with("apns-expiration", expiration))
                stories[try uniqueID(answer)] = []
            }
            for id in stories.keys {
                stories[id] = try #require(simulator.devices?.delivery(id)).events.map { "\($0.state) \($0.time)" }
            }
        }
        #expect(stories.values.contains { $0.last?.hasPrefix("discarded: expired") ?? false })
        #expect(stories.values.contains { $0.last?.hasPrefix("overwritten in storage") ?? false })
        try await with { simulator in
            for (id, story) in stories {
                let kept = try #require(simulator.devices?.delivery(id))
                #expect(kept.events.map { "\($0.state) \($0.time)" } == story)
                #expect(kept.topic == "com.example.app")
            }
        }
    }

    @Test("What a crash leaves behind at the moment of a 200 has the push and its story", arguments: [1, 60])
    func crash(_ pushes: Int) async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let copy = directory + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        var ids: [UUIDBytes] = []
        try await withToken({ $0.devices.storesAll = true }) { simulator, token in
            let client = try RawClient(simulator)
            let tags = try (0..<pushes).map { _ in try client.send(try push(token)) }
            try client.wait { tags.allSatisfy { client.answers[$0]?.closure != nil } }
            // What another process sees now is what the death of this one would leave.
            try FileManager.default.copyItem(atPath: directory, toPath: copy)
            ids = try tags.map { try uniqueID(client.answers[$0] ?? RawAnswer()) }
            #expect(tags.allSatisfy { client.answers[$0]?.status == 200 })
        }
        try await with({ $0.devices.storesAll = true }, in: copy) { simulator in
            #expect(simulator.devices?.views(limit: 1).first?.waiting == pushes)
            for id in ids { #expect(simulator.devices?.delivery(id)?.events.first?.state == "received") }
        }
    }

    @Test("A push that cannot be written is answered 500 and kept nowhere; the service goes on, and recovers")
    func unwritable() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var kept: [UUIDBytes] = []
        try await withToken({ $0.devices.storesAll = true }) { simulator, token in
            let client = try RawClient(simulator)
            kept.append(try uniqueID(try client.exchange(try push(token))))
            let journal = "\(directory)/\(NotificationJournal.name)"
            try FileManager.default.removeItem(atPath: journal)
            try FileManager.default.createDirectory(atPath: "\(journal)/full", withIntermediateDirectories: true)
            for _ in 0..<2 {
                let answer = try client.exchange(try push(token))
                #expect(answer.status == 500 && answer.reason == "InternalServerError")
                let unknown = try uniqueID(answer)
                #expect(simulator.devices?.delivery(unknown) == nil)
            }
            #expect(simulator.devices?.views(limit: 1).first?.waiting == 1)
            let overview = OverviewView(simulator.control.service)
            #expect(overview.storageTrouble?.contains(NotificationJournal.name) == true)
            #expect(overview.answers.contains { $0.status == 500 && $0.reason == "InternalServerError" })
            // What needs no storage needs no disk.
            #expect(try client.exchange(try push(token).with("apns-expiration", "0")).status == 200)
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            try FileManager.default.removeItem(atPath: journal)
            kept.append(try uniqueID(try client.exchange(try push(token))))
            #expect(OverviewView(simulator.control.service).storageTrouble == nil)
        }
        try await with({ $0.devices.storesAll = true }) { simulator in
            #expect(simulator.devices?.views(limit: 1).first?.waiting == 2)
            for id in kept { #expect(simulator.devices?.delivery(id) != nil) }
        }
    }

    @Test("More waiting than the limit is answered 503 ServiceUnavailable until devices have taken it")
    func backlog() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await withToken({
            $0.devices.storesAll = true
            $0.devices.backlogLimit = 2
        }) { simulator, token in
            let client = try RawClient(simulator)
            for status in [200, 200, 503, 503] {
                let answer = try client.exchange(try push(token))
                #expect(answer.status == status)
                #expect(answer.reason == (status == 503 ? "ServiceUnavailable" : ""))
            }
            #expect(try client.exchange(try SimulatorBench.push(maker)).status == 200)
            simulator.control.advanceClock(milliseconds: 31 * 86_400_000)
            simulator.devices?.tick()
            let fresh = try maker.bearer(issuedAt: simulator.control.now / 1000)
            #expect(try client.exchange(try push(token).with("authorization", fresh)).status == 200)
        }
    }

    @Test("A second simulator on the same directory is refused with a clear error, and only while the first runs")
    func lock() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await with { first in
            let error = await #expect(throws: SimulatorError.self) { try await with { _ in } }
            #expect(error?.code == .file)
            #expect(error?.message.contains("in use by another simulator") == true)
            #expect(try RawClient(first).exchange(try SimulatorBench.push(maker)).status == 200)
            await first.stop()
            try await with { _ in }
        }
    }
}
