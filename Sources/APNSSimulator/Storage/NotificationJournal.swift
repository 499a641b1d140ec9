import EventLoop
import FoundationEssentials
import Glibc

/// The file that keeps the notifications for devices and the delivery log: one line of JSON per change, appended.
///
/// A batch of lines is appended in one call. It survives the death of the process as soon as the call returns. A value
/// without lock; its owner writes from one thread at a time.
struct NotificationJournal {
    /// The name of the file.
    static let name = "notifications.jsonl"
    /// The largest file that is read or written, in bytes.
    static let fileLimit = 1 << 30
    /// The size in bytes from which the file is written again, unless it is less than twice as large as after the last
    /// rewrite.
    static let usualSize = 64 << 20

    /// Whether the file has everything. If not, the whole file has to be written again.
    private(set) var isWhole = true
    /// The earliest time for another attempt to write the whole file after a failure. Lines that must be kept do not
    /// wait for it.
    var retryAt = MonotonicTime(nanoseconds: 0)

    private let directory: StateDirectory
    private let limit: Int
    private var size = 0
    private var sizeWhenNew = 0

    /// Prepares for a state directory; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - directory: The simulator's state directory.
    ///   - limit: The largest file that is read or written, in bytes.
    init(in directory: StateDirectory, limit: Int = Self.fileLimit) {
        self.directory = directory
        self.limit = limit
    }

    /// Whether the file has grown so much that a rewrite is worth the effort. That is so at the latest when the file is
    /// half way from its size after the last rewrite to its limit.
    var isLarge: Bool { size > min(max(Self.usualSize, 2 * sizeWhenNew), (sizeWhenNew + limit) / 2) }

    /// Reads the file. Cuts off a last line that has no end.
    ///
    /// - Returns: The content of the lines.
    /// - Throws: ``SimulatorError`` where the file cannot be read or understood, or its last line cannot be cut off.
    mutating func load() throws(SimulatorError) -> KeptNotifications {
        guard let bytes = try directory.read(Self.name, limit: limit) else { return KeptNotifications() }
        var kept = KeptNotifications()
        size = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        var number = 0
        for line in bytes[..<size].split(separator: UInt8(ascii: "\n")) {
            number += 1
            guard let content = try? JSONDecoder().decode(JournalLine.self, from: Data(line)), kept.take(content)
            else {
                throw SimulatorError(
                    .file, "\(path) is damaged in line \(number); move it away to start without what it keeps")
            }
        }
        guard size == bytes.count || truncate(path, size) == 0 else {
            throw SimulatorError(.file, "cannot write \(path)")
        }
        return kept
    }

    /// Appends lines: all of them or none.
    ///
    /// - Parameter lines: The lines, each with its end.
    /// - Throws: ``SimulatorError`` where they cannot be written.
    mutating func append(_ lines: [UInt8]) throws(SimulatorError) {
        guard !lines.isEmpty else { return }
        guard size + lines.count <= limit else {
            isWhole = false
            throw SimulatorError(.file, "\(path) has grown to its limit of \(limit) bytes")
        }
        // Opens the file each time. A directory that is removed and brought back then needs no restart.
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SimulatorError(.file, "cannot write \(path)") }
        defer { close(file) }
        guard lseek(file, 0, SEEK_END) == size else {
            isWhole = false
            throw SimulatorError(.file, "\(path) was changed by another program")
        }
        guard lines.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == lines.count else {
            if ftruncate(file, off_t(size)) != 0 { isWhole = false }
            throw SimulatorError(.file, "cannot write all of \(path); is the disk full?")
        }
        size += lines.count
    }

    /// Replaces the file.
    ///
    /// - Parameter lines: Everything that is to be kept.
    /// - Throws: ``SimulatorError`` where the file cannot be written. The old file then stays.
    mutating func replace(with lines: [UInt8]) throws(SimulatorError) {
        try directory.write(lines, to: Self.name, isSecret: true, limit: limit)
        (size, sizeWhenNew, isWhole) = (lines.count, lines.count, true)
    }

    /// Lets the file grow further, because it cannot be replaced at present.
    mutating func postponeReplacement() { sizeWhenNew = size }

    /// Notes that lines were lost, so that the file has to be written again.
    mutating func lost() { isWhole = false }

    private var path: String { directory.file(Self.name) }
}
