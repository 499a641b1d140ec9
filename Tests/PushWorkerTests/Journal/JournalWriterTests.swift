import Dispatch
import EventLoop
import Glibc
import LocalStack
import PushModel
import Synchronization
import TestSupport
import Testing
import Text

@testable import PushWorker

@Suite("The thread that writes the journal", .timeLimit(.minutes(1)))
struct JournalWriterTests {
    /// A disk that lets each write through only when it is told to, and says what the writer said.
    private final class Disk: Sendable {
        private let writes = DispatchSemaphore(value: 0)
        private let arrivals = DispatchSemaphore(value: 0)
        private let wakes = DispatchSemaphore(value: 0)

        /// Called by the thread before a write.
        func pause() {
            arrivals.signal()
            writes.wait()
        }

        func wake() { wakes.signal() }

        /// Waits until a write hangs.
        func awaitWrite() { arrivals.wait() }
        /// Lets writes through.
        func allow(_ count: Int = 1) { for _ in 0..<count { writes.signal() } }
        /// Waits until the writer has woken the lane.
        func awaitWake() { wakes.wait() }
    }

    private let directory: TemporaryDirectory
    private let disk = Disk()
    private let now: Int64 = 1_763_712_800_100
    private var path: String { directory.file("lane-0.log") }

    init() throws { directory = try TemporaryDirectory(prefix: "martlet-journal") }

    private func record(_ number: UInt64) -> JournalRecord {
        JournalRecord(key: UUIDBytes(high: number, low: ~number), finishedAt: now, apnsMilliseconds: 41)
    }

    /// A writer whose thread runs, on a disk that hangs.
    private func writer(notes: Int = 100) -> JournalWriter {
        let writer = JournalWriter(
            directory: directory.path, queueLimit: notes * JournalRecord.length, pause: disk.pause,
            wake: disk.wake)
        let event = writer.flush(now: 0)
        #expect(event == nil)
        // The file is open.
        disk.awaitWake()
        return writer
    }

    /// Which of the notes 1 to 20 a later process finds.
    private func found() throws -> [UInt64] {
        let journal = try Journal(directory.path, now: now)
        return (1...20).filter { journal.take(record($0).key, now: now) != nil }
    }

    @Test("A result waits until its note is written, and the lane is woken then")
    func written() throws {
        let writer = writer()
        let notes = [writer.append(record(1)), writer.append(record(2))]
        #expect(notes == [1, 2])
        #expect(writer.flush(now: 1) == nil)
        disk.awaitWrite()
        #expect(writer.flush(now: 2) == nil)
        #expect(!writer.mayPublish(1) && writer.written == 0)
        disk.allow()
        disk.awaitWake()
        #expect(writer.flush(now: 3) == nil)
        #expect(writer.mayPublish(2) && !writer.mayPublish(3))
        #expect(writer.written == 2 && writer.late == 0 && writer.isOn)
        #expect(try found() == [1, 2])
    }

    @Test("A disk that hangs holds results up for a moment and the lane not at all; once it goes on they wait again")
    func hangs() throws {
        let writer = writer()
        let first = writer.append(record(1))
        #expect(writer.flush(now: 1) == nil)
        disk.awaitWrite()
        let due = try #require(writer.nextDue)
        #expect(due == 1 + JournalPatience.usual)
        let second = writer.append(record(2))
        #expect(writer.flush(now: due) == nil)
        #expect(writer.mayPublish(first) && writer.mayPublish(second) && writer.nextDue == nil)
        #expect(writer.late == 2 && writer.isOn)
        disk.allow(2)
        disk.awaitWake()
        disk.awaitWake()
        #expect(writer.flush(now: due.adding(nanoseconds: 1)) == nil)
        let third = writer.append(record(3))
        #expect(writer.flush(now: due.adding(nanoseconds: 2)) == nil)
        #expect(!writer.mayPublish(third))
        disk.allow()
        #expect(writer.close(atMost: .seconds(30)))
        #expect(try found() == [1, 2, 3])
    }

    @Test("Of notes that do not fit the oldest are dropped and counted; that is said once, and so is its end")
    func overflow() throws {
        let writer = writer(notes: 4)
        _ = writer.append(record(1))
        #expect(writer.flush(now: 1) == nil)
        disk.awaitWrite()
        var events: [JournalWriter.Event?] = []
        for number in 2...7 as ClosedRange<UInt64> {
            _ = writer.append(record(number))
            events.append(writer.flush(now: 1))
        }
        let off = JournalWriter.Event.off("\(path) is written too slowly: more than 4 notes wait")
        #expect(events == [nil, nil, nil, nil, off, nil])
        #expect(writer.dropped == 4 && !writer.isOn)
        for number in 8...17 as ClosedRange<UInt64> { _ = writer.append(record(number)) }
        #expect(writer.flush(now: 1) == nil)
        #expect(writer.dropped == 4 + 2 + 6, "of one turn too the last are kept")
        disk.allow(2)
        disk.awaitWake()
        disk.awaitWake()
        #expect(writer.flush(now: 2) == .on)
        #expect(writer.mayPublish(17) && writer.written == 5)
        #expect(try found() == [1, 14, 15, 16, 17])
    }

    @Test("A full disk is said once, and holds no result up")
    func diskFull() throws {
        #expect(symlink("/dev/full", path) == 0)
        let writer = writer()
        disk.allow(2)
        for (number, expected) in [
            (1, .off("cannot write to \(path): No space left on device")), (2, nil),
        ] as [(UInt64, JournalWriter.Event?)] {
            let note = writer.append(record(number))
            var events = [writer.flush(now: MonotonicTime(nanoseconds: number))]
            disk.awaitWake()
            events.append(writer.flush(now: MonotonicTime(nanoseconds: number)))
            #expect(events.compactMap(\.self) == [expected].compactMap(\.self))
            #expect(writer.mayPublish(note))
        }
        #expect(writer.dropped == 2 && writer.written == 0 && !writer.isOn)
    }

    @Test("A file that cannot be opened is said before anything is noted")
    func unusable() throws {
        #expect(mkdir(path, 0o700) == 0)
        let writer = JournalWriter(directory: directory.path, wake: disk.wake)
        var events = [writer.flush(now: 0)]
        disk.awaitWake()
        events.append(writer.flush(now: 1))
        #expect(events.compactMap(\.self) == [.off("cannot write to \(path): Is a directory")])
    }

    @Test("The end of a lane waits for what it noted, but not for a disk that hangs")
    func close() throws {
        let writer = writer()
        _ = writer.append(record(1))
        #expect(writer.flush(now: 1) == nil)
        disk.awaitWrite()
        _ = writer.append(record(2))
        #expect(writer.flush(now: 1) == nil)
        #expect(!writer.close(atMost: .milliseconds(1)))
        disk.allow(2)
        #expect(writer.close(atMost: .seconds(30)))
        #expect(try found() == [1, 2])
    }

    @Test("A writer that is let go ends its thread")
    func letGo() throws {
        final class Token: Sendable {
            let gone: DispatchSemaphore
            init(gone: DispatchSemaphore) { self.gone = gone }
            deinit { gone.signal() }
        }
        let gone = DispatchSemaphore(value: 0)
        do {
            let token = Token(gone: gone)
            let writer = JournalWriter(directory: directory.path) { [token] in _ = token }
            #expect(writer.flush(now: 0) == nil)
        }
        gone.wait()
    }
}
