import EventLoop
import Foundation
import Testing

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

    private func uniqueID(_ answer: RawAnswer) throws -> MessageID {
        try #require(MessageID(parsing: Array((answer.headers["apns-unique-id"] ?? "").utf8)))
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
        var stories: [MessageID: [String]] = [:]
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
        var ids: [MessageID] = []
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
        var kept: [MessageID] = []
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

@Suite("The journal of notifications", .timeLimit(.minutes(1)))
struct NotificationJournalTests {
    private let directory: StateDirectory
    private let device = DeviceID(MessageID(high: 1, low: 1))
    private let other = DeviceID(MessageID(high: 1, low: 2))

    init() throws {
        directory = try StateDirectory(
            FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory.path) }

    private func notification(_ number: UInt64) -> StoredNotification {
        StoredNotification(
            id: MessageID(high: 0, low: number), uniqueID: MessageID(high: 9, low: number), app: "a", topic: "a.voip",
            type: "voip", priority: 10, collapseID: "\"\\\u{1}é", acceptedAt: 5, deadline: 50,
            payload: Data("{\"n\":\(number)}\n".utf8))
    }

    private func keep(_ number: UInt64, for device: DeviceID) -> [UInt8] {
        var lines: [UInt8] = []
        JournalLine.append(notification(number), to: &lines)
        JournalLine.append(keeping: notification(number).uniqueID, for: device, to: &lines)
        return lines
    }

    private func event(_ state: DeliveryState, _ number: UInt64, _ device: DeviceID) -> [UInt8] {
        var lines: [UInt8] = []
        JournalLine.append(
            DeliveryLog.Event(state: state, device: device, time: 7), of: notification(number).uniqueID,
            beginning: nil, to: &lines)
        return lines
    }

    @Test("What was kept and not finished waits, byte by byte as it was, in order")
    func waiting() throws {
        defer { remove() }
        var journal = NotificationJournal(in: directory)
        try journal.append(keep(1, for: device) + keep(2, for: device))
        try journal.append(keep(3, for: other) + event(.sent, 2, device))
        try journal.append(event(.delivered, 1, device))
        var again = NotificationJournal(in: directory)
        let kept = try again.load()
        #expect(kept.waiting == [device: [notification(2)], other: [notification(3)]])
        #expect(kept.log.entry(notification(1).uniqueID)?.events.map(\.state) == [.received, .delivered])
        try again.append(event(.expired, 2, device))
        var third = NotificationJournal(in: directory)
        #expect(try third.load().waiting == [other: [notification(3)]])
    }

    @Test("A final state ends the waiting, any other does not", arguments: DeliveryState.allCases)
    func states(_ state: DeliveryState) throws {
        defer { remove() }
        var journal = NotificationJournal(in: directory)
        try journal.append(keep(1, for: device) + keep(1, for: other) + event(state, 1, device))
        let waiting = try journal.load().waiting
        #expect(waiting[other] == [notification(1)])
        let isGoingOn = [.received, .sent, .storedOffline, .storedPower, .storedBusy].contains(state)
        #expect((waiting[device] != nil) == isGoingOn)
    }

    @Test("A line that a crash cut off is dropped, and what is appended later is whole")
    func torn() throws {
        defer { remove() }
        var journal = NotificationJournal(in: directory)
        try journal.append(keep(1, for: device))
        let file = try FileHandle(forWritingTo: URL(filePath: directory.file(NotificationJournal.name)))
        try file.seekToEnd()
        try file.write(contentsOf: Data("{\"keep\":".utf8))
        try file.close()
        var again = NotificationJournal(in: directory)
        #expect(try again.load().waiting == [device: [notification(1)]])
        try again.append(keep(2, for: device))
        var third = NotificationJournal(in: directory)
        #expect(try third.load().waiting == [device: [notification(1), notification(2)]])
    }

    @Test(
        "A line that cannot be understood is told with its number",
        arguments: [
            "nonsense", "{}", #"{"keep":"00000000-0000-0000-0000-000000000001","device":"x"}"#,
            #"{"keep":"00000000-0000-0000-0000-000000000001","device":"00000000-0000-0000-0000-000000000001"}"#,
            #"{"event":"lost","unique":"00000000-0000-0000-0000-000000000001"}"#,
        ])
    func damaged(_ line: String) throws {
        defer { remove() }
        var journal = NotificationJournal(in: directory)
        try journal.append(keep(1, for: device) + Array("\(line)\n".utf8))
        let error = #expect(throws: SimulatorError.self) { try journal.load() }
        #expect(error?.message.contains("line 3") == true)
    }

    @Test("A file that another program changed is written anew before anything is appended")
    func foreign() throws {
        defer { remove() }
        var journal = NotificationJournal(in: directory)
        try journal.append(keep(1, for: device))
        try FileManager.default.removeItem(atPath: directory.file(NotificationJournal.name))
        #expect(throws: SimulatorError.self) { try journal.append(keep(2, for: device)) }
        #expect(!journal.isWhole)
        try journal.replace(with: keep(3, for: device))
        #expect(journal.isWhole && !journal.isLarge)
        var again = NotificationJournal(in: directory)
        #expect(try again.load().waiting == [device: [notification(3)]])
    }

    @Test("No more is written than will be read, and the file is written anew before that")
    func limit() throws {
        defer { remove() }
        let limit = 8 * keep(1, for: device).count
        var journal = NotificationJournal(in: directory, limit: limit)
        for number in 1...4 { try journal.append(keep(UInt64(number), for: device)) }
        #expect(!journal.isLarge)
        for number in 5...8 { try journal.append(keep(UInt64(number), for: device)) }
        #expect(journal.isLarge && journal.isWhole)
        #expect(throws: SimulatorError.self) { try journal.append(keep(9, for: device)) }
        #expect(!journal.isWhole)
        let tooMuch = (1...9).flatMap { keep($0, for: device) }
        #expect(throws: SimulatorError.self) { try journal.replace(with: tooMuch) }
        var again = NotificationJournal(in: directory, limit: limit)
        #expect(try again.load().waiting == [device: (1...8).map { notification($0) }])
        try journal.replace(with: (1...6).flatMap { keep($0, for: device) })
        #expect(!journal.isLarge)
        try journal.append(keep(7, for: device) + keep(8, for: device))
        #expect(journal.isLarge)
    }
}
