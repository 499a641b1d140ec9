import EventLoop
import Glibc
import LocalStack
import PushModel
import TestSupport
import Testing
import Text
import WorkerSettings

@testable import PushWorker

@Suite("The journal", .timeLimit(.minutes(1)))
struct JournalTests {
    private let directory: TemporaryDirectory
    private let now: Int64 = 1_763_712_800_100

    init() throws { directory = try TemporaryDirectory(prefix: "martlet-journal") }

    private func record(_ number: UInt64, at time: Int64? = nil) -> JournalRecord {
        JournalRecord(key: UUIDBytes(high: number, low: ~number), finishedAt: time ?? now, apnsMilliseconds: 41)
    }

    private func write(_ records: [JournalRecord], limit: Int = JournalFile.segmentLimit) {
        var file = JournalFile(directory: directory.path, limit: limit)
        for record in records {
            let isWritten = file.append(bytes(of: record), now: 1)
            #expect(isWritten)
        }
    }

    private func bytes(of record: JournalRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        return bytes
    }

    private func size(_ name: String) -> Int? {
        var status = stat()
        return stat(directory.file(name), &status) == 0 ? status.st_size : nil
    }

    // MARK: Records

    @Test("A record is read as it was written, whatever it holds", arguments: [nil, 0, 41, 10_000_000_000] as [Int64?])
    func record(milliseconds: Int64?) throws {
        let record = JournalRecord(
            key: UUIDBytes(high: .max, low: 1), finishedAt: -5, apnsMilliseconds: milliseconds)
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        #expect(bytes.count == JournalRecord.length)
        var expected = record
        expected.apnsMilliseconds = milliseconds.map { min($0, Int64(UInt32.max) - 1) }
        #expect(JournalRecord(bytes.span) == expected)
    }

    @Test("A record of which any bit changed, and one that is cut off, is not a record")
    func damaged() {
        var bytes: [UInt8] = []
        record(7).append(to: &bytes)
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(JournalRecord(bytes.span) == nil, "bit \(bit)")
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        #expect(JournalRecord(bytes.span.extracting(0..<31)) == nil)
        #expect(JournalRecord([UInt8](repeating: 0, count: 32).span) == nil)
    }

    // MARK: Memory

    @Test("What is remembered is given out as often as it was noted, while it is fresh")
    func memory() {
        let lifetime = JournalMemory.lifetime
        var memory = JournalMemory(
            [
                record(1), record(2, at: now - 5), record(2, at: now), record(3, at: now - lifetime - 1),
                record(4, at: now + lifetime + 1), record(5, at: .min), record(6, at: now - lifetime),
            ], now: now)
        #expect(memory.count == 4)
        func take(_ number: UInt64, at time: Int64) -> Int64? { memory.take(record(number).key, now: time)?.finishedAt }
        #expect(take(1, at: now) == now && take(1, at: now) == nil)
        #expect(Set([take(2, at: now), take(2, at: now)]) == [now, now - 5] && take(2, at: now) == nil)
        #expect([3, 4, 5, 9].map { take($0, at: now) } == [nil, nil, nil, nil])
        #expect(take(6, at: now + 1) == nil, "its time is over by now")
    }

    @Test("A message is known by its mark until all that was noted of it is used up, or is too old")
    func marks() {
        func record(_ mark: UInt64, _ low: UInt64, at time: Int64) -> JournalRecord {
            JournalRecord(key: UUIDBytes(high: mark, low: low), finishedAt: time, apnsMilliseconds: nil)
        }
        var memory = JournalMemory(
            [record(1, 0, at: now), record(5, 1, at: now), record(5, .max, at: now - 5)], now: now)
        func known() -> [UInt64] { [0, 1, 2, 5, 6, .max].filter { memory.knows($0, now: now) } }
        #expect(known() == [1, 5])
        #expect(memory.take(UUIDBytes(high: 5, low: 1), now: now) != nil && known() == [1, 5])
        #expect(!memory.knows(5, now: now + JournalMemory.lifetime), "the other is older")
        #expect(memory.take(UUIDBytes(high: 5, low: .max), now: now) != nil && known() == [1])
    }

    @Test("Of too many records the latest are remembered")
    func capacity() {
        let capacity = JournalMemory.capacity
        var memory = JournalMemory((0..<capacity + 10).map { record(UInt64($0), at: now + Int64($0)) }, now: now)
        #expect(memory.count == capacity)
        #expect(memory.take(record(9).key, now: now) == nil)
        #expect(memory.take(record(10).key, now: now) != nil)
    }

    // MARK: Files

    @Test("The next process knows what was noted, also by workers of several lanes, whose files go once they are old")
    func restart() throws {
        #expect(try Journal(directory.path, now: now).count == 0)
        write([record(3)])
        #expect(rename(directory.file("lane-0.log"), directory.file("lane-1.log")) == 0)
        write([record(4, at: now - 2 * JournalMemory.lifetime)])
        #expect(rename(directory.file("lane-0.log"), directory.file("lane-2.log")) == 0)
        write([record(1), record(2)])
        write([record(5)])
        let journal = try Journal(directory.path, now: now)
        #expect(journal.count == 4)
        #expect((1...5).map { journal.take(record($0).key, now: now) != nil } == [true, true, true, false, true])
        #expect(size("lane-1.log") == JournalRecord.length && size("lane-2.log") == nil)
    }

    @Test("A directory belongs to one process, until that is gone")
    func lock() throws {
        var journal: Journal? = try Journal(directory.file("new"), now: now)
        do {
            _ = try Journal(directory.file("new"), now: now)
            Issue.record("two have it")
        } catch { #expect(error.message.contains("another process uses \(directory.file("new"))")) }
        #expect(journal?.count == 0)
        journal = nil
        _ = try Journal(directory.file("new"), now: now)
    }

    @Test("A place where nothing can be written is said with its reason", arguments: ["missing/below", "file"])
    func unusable(name: String) throws {
        try directory.write("text", to: "file")
        do {
            _ = try Journal(directory.file(name), now: now)
            Issue.record("\(name) was taken")
        } catch { #expect(error.message.hasPrefix("cannot ") && error.message.contains(directory.file(name))) }
    }

    @Test("A damaged end is passed over and cut off; damage in the midst costs what is damaged")
    func damage() throws {
        write([record(1), record(2), record(3)])
        let path = directory.file("lane-0.log")
        var bytes = try TextFile.bytes(at: path)
        bytes[40] ^= 1
        try directory.write(bytes + [1, 2, 3], to: "lane-0.log")
        #expect(try Journal(directory.path, now: now).count == 2)
        write([record(4)])
        #expect(size("lane-0.log") == 4 * JournalRecord.length)
        #expect(try Journal(directory.path, now: now).count == 3)
    }

    @Test("A file that is full is kept beside the new one, in place of the one before")
    func rotation() throws {
        write((1...10).map { record($0) }, limit: 4 * JournalRecord.length)
        #expect(size("lane-0.log") == 2 * JournalRecord.length && size("lane-0.old") == 4 * JournalRecord.length)
        let journal = try Journal(directory.path, now: now)
        #expect((1...10).filter { journal.take(record($0).key, now: now) != nil } == [5, 6, 7, 8, 9, 10])
    }

    @Test("A full disk is left alone for a while, then it is tried again")
    func diskFull() throws {
        // Every write to this device says that it is full.
        #expect(symlink("/dev/full", directory.file("lane-0.log")) == 0)
        var file = JournalFile(directory: directory.path)
        let beginning = file.trouble
        #expect(beginning == nil)
        func write(at now: MonotonicTime) -> Bool { file.append(bytes(of: record(1)), now: now) }
        let writes = [
            write(at: 5), write(at: 6), write(at: 5 + JournalFile.retryInterval),
            unlink(directory.file("lane-0.log")) == 0,
            write(at: 6 + JournalFile.retryInterval), write(at: 5 + JournalFile.retryInterval * 2),
        ]
        #expect(writes == [false, false, false, true, false, true], "still full, there is room, it is tried again")
        let end = file.trouble
        #expect(end == nil && size("lane-0.log") == JournalRecord.length)
    }

    @Test("What keeps a file from being written is said with its path")
    func trouble() {
        #expect(symlink("/dev/full", directory.file("lane-0.log")) == 0)
        var file = JournalFile(directory: directory.path)
        _ = file.append(bytes(of: record(1)), now: 5)
        let trouble = file.trouble
        #expect(trouble == "cannot write to \(directory.file("lane-0.log")): No space left on device")
    }
}
