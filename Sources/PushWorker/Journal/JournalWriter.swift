internal import Glibc

/// Appends the records of one lane to its file, all those of a turn in one write; confined to the lane.
///
/// Nothing is synchronised to the disk: what was written survives the end of the process, not that of the machine. A
/// file that cannot be written turns the journal off for a while; the lane goes on without.
final class JournalWriter {
    /// What the lane is to log.
    enum Event: Equatable {
        /// Records are lost from now on, for this reason.
        case off(String)
        /// Records are kept again.
        case on
    }

    /// Most bytes of a file; a full one is kept as the `.old` one in place of the one before.
    static let segmentLimit = JournalMemory.capacity * JournalRecord.length
    /// For how many nanoseconds a journal stays off before it is tried again.
    static let retryInterval: UInt64 = 30_000_000_000

    private let path: String
    private let oldPath: String
    private let limit: Int
    private var descriptor: Int32 = -1
    private var size = 0
    private var pending: [UInt8] = []
    private var retryAt: UInt64 = 0
    /// Whether the lane was told that records are lost: every failed try would be news otherwise.
    private var isSaidOff = false
    private var event: Event?
    /// How many records were written.
    private(set) var written = 0

    /// Opens the file of a lane.
    ///
    /// - Parameters:
    ///   - directory: The journal's directory.
    ///   - lane: The lane's number.
    ///   - limit: Most bytes of a file, a multiple of a record's length.
    init(directory: String, lane: Int, limit: Int = JournalWriter.segmentLimit) {
        path = "\(directory)/lane-\(lane).log"
        oldPath = "\(directory)/lane-\(lane).old"
        self.limit = limit
        open(now: 0)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether records are kept.
    var isOn: Bool { descriptor >= 0 }

    /// Takes a record; it is written with the others of this turn.
    func append(_ record: JournalRecord) { record.append(to: &pending) }

    /// Writes what was appended in this turn.
    ///
    /// - Returns: What the lane is to log.
    func flush(now: UInt64) -> Event? {
        defer { event = nil }
        guard !pending.isEmpty else { return event }
        defer { pending.removeAll(keepingCapacity: true) }
        if descriptor < 0, now >= retryAt { open(now: now) }
        if size + pending.count > limit, size > 0 { rotate(now: now) }
        guard descriptor >= 0 else { return event }
        var count = write(descriptor, pending, pending.count)
        while count < 0, errno == EINTR { count = write(descriptor, pending, pending.count) }
        if count == pending.count {
            size += count
            written += count / JournalRecord.length
            if isSaidOff { event = .on }
            isSaidOff = false
        } else {
            // A short write means a full disk as well; half a record must not stand before those that follow.
            let reason = count < 0 ? errno : ENOSPC
            _ = ftruncate(descriptor, size)
            turnOff(reason, now: now)
        }
        return event
    }

    private func open(now: UInt64) {
        descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return turnOff(errno, now: now) }
        // What a dying machine left of a record goes, so that the next one stands where it belongs.
        size = status.st_size / JournalRecord.length * JournalRecord.length
        guard size == status.st_size || ftruncate(descriptor, size) == 0 else { return turnOff(errno, now: now) }
    }

    private func rotate(now: UInt64) {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        guard rename(path, oldPath) == 0 else { return turnOff(errno, now: now) }
        open(now: now)
    }

    private func turnOff(_ reason: Int32, now: UInt64) {
        if !isSaidOff { event = .off(Journal.Failure.system("cannot write to", path, reason).message) }
        isSaidOff = true
        retryAt = now + Self.retryInterval
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
