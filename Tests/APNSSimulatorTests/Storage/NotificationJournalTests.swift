import EventLoop
import Foundation
import Testing
import Text

@testable import APNSSimulator

@Suite("The journal of notifications", .timeLimit(.minutes(1)))
struct NotificationJournalTests {
    private let directory: StateDirectory
    private let device = DeviceID(UUIDBytes(high: 1, low: 1))
    private let other = DeviceID(UUIDBytes(high: 1, low: 2))

    init() throws {
        directory = try StateDirectory(
            FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory.path) }

    private func notification(_ number: UInt64) -> StoredNotification {
        StoredNotification(
            id: UUIDBytes(high: 0, low: number), uniqueID: UUIDBytes(high: 9, low: number), app: "a", topic: "a.voip",
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

    @Test("A file that another program changed is written again before anything is appended")
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

    @Test("No more is written than will be read, and the file is written again before that")
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
