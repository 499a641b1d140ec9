import Glibc
import PushModel
import Synchronization
import Text

/// A directory in which one worker notes what APNs accepted. After a crash the next worker does not push a
/// noted notification again.
///
/// The journal only avoids duplicates. Nothing else depends on it: it may be deleted at any time, and a worker whose
/// journal does not work goes on without it. The directory belongs to one process at a time.
final class Journal: Sendable {
    /// Why the journal cannot be used, in words for a person.
    struct Failure: Error {
        /// What is wrong, where, and what to do.
        let message: String
    }

    /// Where its files are.
    let directory: String
    private let lock: Int32
    private let memory: Mutex<JournalMemory>

    /// Opens a journal and reads what an earlier process left there.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory. The directory is made if it is missing, but its parents are not.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `Failure` if the directory cannot be used, or another process uses it.
    init(_ directory: String, now: Int64) throws(Failure) {
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system("cannot make", directory, errno) }
        let lock = Glibc.open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .system("cannot write to", directory, errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let failure: Failure = isTaken ? .taken(directory) : .system("cannot lock", directory, errno)
            close(lock)
            throw failure
        }
        self.lock = lock
        self.directory = directory
        memory = Mutex(JournalMemory(Self.records(in: directory, now: now), now: now))
    }

    deinit { close(lock) }

    /// How many records of earlier processes are remembered, with those that were given out.
    var count: Int { memory.withLock { $0.count } }

    /// The record of a notification that an earlier process noted; nil without one. Each record is given out once.
    func take(_ key: UUIDBytes, now: Int64) -> JournalRecord? { memory.withLock { $0.take(key, now: now) } }

    /// Whether an earlier process noted a notification of the message with this mark (`JournalMark`), and its record
    /// was not given out.
    func knows(_ mark: UInt64, now: Int64) -> Bool { memory.withLock { $0.knows(mark, now: now) } }

    /// The records of earlier processes, also of those that had several lanes. Files without useful records are removed.
    private static func records(in directory: String, now: Int64) -> [JournalRecord] {
        var records: [JournalRecord] = []
        for name in names(in: directory) {
            let path = "\(directory)/\(name)"
            let fresh = read(path).filter { JournalMemory.isFresh($0, now: now) }
            if fresh.isEmpty { unlink(path) }
            records += fresh
            // Bounds the memory for any number of files.
            if records.count > 2 * JournalMemory.capacity {
                records.sort { $0.finishedAt > $1.finishedAt }
                records.removeLast(records.count - JournalMemory.capacity)
            }
        }
        return records
    }

    private static func names(in directory: String) -> [String] {
        guard let listing = opendir(directory) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("lane-"), name.hasSuffix(".log") || name.hasSuffix(".old") { names.append(name) }
        }
        return names
    }

    /// Reads the records of a file. Damaged records are skipped. Bytes beyond the largest file that is ever written are
    /// not read.
    private static func read(_ path: String) -> [JournalRecord] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: JournalFile.segmentLimit)
        var length = 0
        while length < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress.map { $0 + length }, bytes.count - length)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            length += count
        }
        return stride(from: 0, to: length / JournalRecord.length * JournalRecord.length, by: JournalRecord.length)
            .compactMap { JournalRecord(buffer.span.extracting($0..<$0 + JournalRecord.length)) }
    }
}

extension Journal.Failure {
    /// A failure of the operating system.
    static func system(_ verb: String, _ path: String, _ number: Int32) -> Self {
        let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return Self(message: "\(verb) \(path): \(reason)")
    }

    /// Another process has the directory.
    fileprivate static func taken(_ directory: String) -> Self {
        Self(message: "another process uses \(directory): give each worker a directory of its own")
    }
}
