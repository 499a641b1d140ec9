import Testing
import Text

@testable import APNSSimulator

@Suite("Changes that are not on disk yet", .timeLimit(.minutes(1)))
struct UnwrittenTests {
    private let device = DeviceID(UUIDBytes(high: 1, low: 1))
    private let other = DeviceID(UUIDBytes(high: 1, low: 2))

    private func append(_ number: UInt64, to lines: inout UnwrittenLines) {
        let event = DeliveryLog.Event(state: .received, device: device, time: 5)
        lines.append(event, of: UUIDBytes(high: 2, low: number), beginning: nil)
    }

    @Test("Lines that could not be written stand before those that have come since")
    func order() {
        var lines = UnwrittenLines()
        append(1, to: &lines)
        let first = lines.take()
        #expect(!first.isEmpty && lines.isEmpty)
        append(2, to: &lines)
        let isBack = lines.putBack(first)
        #expect(isBack && lines.count == 2 * first.count)
        let all = lines.take()
        #expect(all.starts(with: first) && !all.dropFirst(first.count).elementsEqual(first))
    }

    @Test("As much waits as the limit allows, and lines beyond it are not put back")
    func limit() {
        var lines = UnwrittenLines()
        let most = [UInt8](repeating: 0x0A, count: UnwrittenLines.limit)
        let isBack = lines.putBack(most)
        #expect(isBack && !lines.isOverLimit)
        append(1, to: &lines)
        #expect(lines.isOverLimit)
        lines.dropFirst(most.count)
        let count = lines.count
        let isBackAgain = lines.putBack(most)
        #expect(!isBackAgain && lines.count == count && count > 0)
        lines.dropAll()
        #expect(lines.isEmpty)
    }

    @Test("A device that is forgotten has its file removed, not written")
    func forgotten() {
        var files = UnsavedFiles()
        files.change(device)
        files.change(other)
        files.forget(device)
        #expect(files.devices == [other] && files.forgotten == [device])
    }

    @Test("Files that could not be written are out of date again, and nothing is removed twice")
    func again() {
        var files = UnsavedFiles()
        files.change(device)
        files.forget(other)
        files.changeBroadcastChannels()
        let taken = files.take()
        #expect(files.devices.isEmpty && files.forgotten.isEmpty && !files.areBroadcastChannelsChanged)
        files.putBack(taken)
        #expect(files.devices == [device] && files.forgotten.isEmpty && files.areBroadcastChannelsChanged)
    }
}
