import EventLoop

/// The journal of one lane: takes the notes of a turn, and has a thread of its own write them. Confined to the lane,
/// which waits for the disk in `close(atMost:)` only.
///
/// A result is published once its note is written (`mayPublish(_:)`). So a notification whose result is out is not
/// pushed again after a crash. If the disk fails, or hangs for longer than `JournalPatience` allows, results go out
/// without notes. A crash then costs more duplicates.
final class JournalWriter {
    /// What the lane is to log.
    enum Event: Equatable {
        /// Notes are lost from now on, for this reason.
        case off(String)
        /// Notes are kept again.
        case on
    }

    /// How long the end of a lane waits for the disk. A shutdown keeps one second for closing; this is half of it.
    static let closePatience = Duration.milliseconds(500)
    /// The stack of the thread, in bytes. The thread only writes.
    private static let stackSize = 256 << 10

    private let directory: String
    private let limit: Int
    private let queue: JournalQueue
    private let pause: @Sendable () -> Void
    private let wake: @Sendable () -> Void
    private var patience = JournalPatience()
    private var pending: [UInt8] = []
    private var isStarted = false
    private var retryAt = MonotonicTime(nanoseconds: 0)
    /// How far the writing had come at the last `flush(now:)`.
    private var progress = JournalQueue.Progress()

    /// A journal of a lane; its thread starts with the first `flush(now:)`.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    ///   - limit: Most bytes of a file, a multiple of a record's length.
    ///   - queueLimit: Most bytes that wait for the disk.
    ///   - pause: Called on the thread before each write; waits only in tests.
    ///   - wake: Called on the thread at its start, and after notes were written or lost: `flush(now:)` should be
    ///     called.
    init(
        directory: String, limit: Int = JournalFile.segmentLimit,
        queueLimit: Int = JournalQueue.defaultLimit, pause: @escaping @Sendable () -> Void = {},
        wake: @escaping @Sendable () -> Void
    ) {
        self.directory = directory
        self.limit = limit
        queue = JournalQueue(limit: queueLimit, path: JournalFile.path(directory: directory))
        self.pause = pause
        self.wake = wake
    }

    // Does not wait for the thread; `close(atMost:)` does.
    deinit { queue.close() }

    /// Whether notes are kept, as known at the last `flush(now:)`.
    var isOn: Bool { progress.trouble == nil }
    /// How many notes were written.
    var written: Int { progress.written }
    /// How many notes were lost, because the disk failed or was too slow.
    var dropped: Int { progress.dropped }
    /// How many results did not wait for their notes.
    var late: Int { patience.late }
    /// When `flush(now:)` has to be called although nothing happened; nil for never.
    var nextDue: MonotonicTime? { patience.due }

    /// Takes a note. `flush(now:)` hands it over together with the others of this turn.
    ///
    /// - Returns: The number of the note, for `mayPublish(_:)`.
    func append(_ record: JournalRecord) -> UInt64 {
        record.append(to: &pending)
        return patience.note()
    }

    /// Whether the result of a notification may be published: its note is written or lost, or results do not wait now.
    ///
    /// - Parameter note: The number of its note.
    func mayPublish(_ note: UInt64) -> Bool { patience.mayPublish(note) }

    /// Hands over the notes of this turn, and looks how far the thread has come.
    ///
    /// - Parameter now: The time.
    /// - Returns: What the lane is to log.
    func flush(now: MonotonicTime) -> Event? {
        if !isStarted, now >= retryAt { start(now: now) }
        if !pending.isEmpty {
            if isStarted {
                queue.put(pending, last: patience.noted)
            } else {
                queue.lose(pending.count / JournalRecord.length, last: patience.noted)
            }
            pending.removeAll(keepingCapacity: true)
        }
        let wasOn = isOn
        progress = queue.progress
        patience.follow(handled: progress.handled, now: now)
        guard isOn != wasOn else { return nil }
        return progress.trouble.map { .off($0) } ?? .on
    }

    /// Lets the thread write everything that was handed over, and then end.
    ///
    /// - Parameter patience: The longest wait for that.
    /// - Returns: Whether the thread has ended. A thread that has not ended goes on until the process ends.
    @discardableResult
    func close(atMost patience: Duration = JournalWriter.closePatience) -> Bool {
        queue.close()
        return isStarted ? queue.awaitEnd(atMost: patience) : true
    }

    private func start(now: MonotonicTime) {
        do throws(EventLoopError) {
            _ = try LoopThread.start(name: "martlet-journal", stackSize: Self.stackSize) {
                [queue, directory, limit, pause, wake] in
                queue.writeOut(
                    to: JournalFile(directory: directory, limit: limit), pause: pause, wake: wake)
            }
            isStarted = true
        } catch {
            retryAt = now + JournalFile.retryInterval
            queue.lose(0, last: patience.noted, trouble: error.message)
        }
    }
}
