import EventLoop
import Glibc

/// Appends notes to the file of one lane. Confined to the thread that writes, because each call may wait for the disk.
///
/// Nothing is synchronised to the disk: written notes survive the end of the process, not that of the machine. A file
/// that cannot be written is left alone for `retryInterval`.
struct JournalFile: ~Copyable {
    /// Most bytes of a file. A full file replaces the `.old` one.
    static let segmentLimit = JournalMemory.capacity * JournalRecord.length
    /// For how long a file is left alone before it is tried again.
    static let retryInterval = Duration.seconds(30)

    private let path: String
    private let oldPath: String
    private let limit: Int
    private var descriptor: Int32 = -1
    private var size = 0
    private var retryAt = MonotonicTime(nanoseconds: 0)
    /// Why the file cannot be written, in words for a person; nil before the first failure, and after notes were
    /// written.
    private(set) var trouble: String?

    /// Opens the file of a lane.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    ///   - limit: Most bytes of a file, a multiple of a record's length.
    init(directory: String, limit: Int = JournalFile.segmentLimit) {
        path = Self.path(directory: directory)
        oldPath = "\(directory)/lane-0.old"
        self.limit = limit
        open(now: MonotonicTime(nanoseconds: 0))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Where the notes of a lane are.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    /// - Returns: The path of the file that is written to.
    static func path(directory: String) -> String { "\(directory)/lane-0.log" }

    /// Appends notes in one write.
    ///
    /// - Parameters:
    ///   - bytes: Whole records.
    ///   - now: The time.
    /// - Returns: Whether they were written; `trouble` says why not.
    mutating func append(_ bytes: [UInt8], now: MonotonicTime) -> Bool {
        if descriptor < 0, now >= retryAt { open(now: now) }
        if size + bytes.count > limit, size > 0 { rotate(now: now) }
        guard descriptor >= 0 else { return false }
        var count = write(descriptor, bytes, bytes.count)
        while count < 0, errno == EINTR { count = write(descriptor, bytes, bytes.count) }
        guard count == bytes.count else {
            // A short write means that the disk is full. Everything that was written of these notes is cut off, because
            // half a record must not stand before later records.
            let reason = count < 0 ? errno : ENOSPC
            _ = ftruncate(descriptor, size)
            leave(reason, now: now)
            return false
        }
        size += count
        trouble = nil
        return true
    }

    private mutating func open(now: MonotonicTime) {
        descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return leave(errno, now: now) }
        let end = Int(lseek(descriptor, 0, SEEK_END))
        guard end >= 0 else { return leave(errno, now: now) }
        // Cuts off the part of a record that a dying machine left, so that the next record begins at a multiple of the
        // length.
        size = end / JournalRecord.length * JournalRecord.length
        guard size == end || ftruncate(descriptor, size) == 0 else { return leave(errno, now: now) }
    }

    private mutating func rotate(now: MonotonicTime) {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        guard rename(path, oldPath) == 0 else { return leave(errno, now: now) }
        open(now: now)
    }

    private mutating func leave(_ reason: Int32, now: MonotonicTime) {
        trouble = Journal.Failure.system("cannot write to", path, reason).message
        retryAt = now + Self.retryInterval
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
