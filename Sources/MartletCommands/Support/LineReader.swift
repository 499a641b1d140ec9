import Glibc
import Text

/// Reads lines from a file or from standard input, a buffer at a time.
final class LineReader {
    /// The name of the source in messages: its path, or `standard input`.
    let name: String
    /// The number of the line that `next()` returned last; the first is 1.
    private(set) var lineNumber = 0
    private let descriptor: Int32
    private let owned: Bool
    private var buffer: [UInt8] = []
    private var start = 0
    private var ended = false

    /// The most bytes of a line that are kept. A longer line is cut, so that it does not fill the memory. The limit is
    /// one byte more than a job may have, so that ``JobLine`` sees that a cut line is too long.
    private static let limit = OutgoingJob.bodyLimit + 1
    /// How many bytes one system call reads.
    private static let chunk = 1 << 16

    /// Opens a source.
    ///
    /// - Parameter path: A file, or `-` for standard input.
    /// - Throws: A `missingInput` failure when the file cannot be opened.
    init(path: String) throws(CommandFailure) {
        if path == "-" {
            (name, descriptor, owned) = ("standard input", STDIN_FILENO, false)
        } else {
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else {
                throw CommandFailure(.missingInput, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            (name, descriptor, owned) = (path, opened, true)
        }
    }

    deinit {
        if owned { close(descriptor) }
    }

    /// The next line without its end, or `nil` after the last. The first line comes without a byte order mark.
    ///
    /// - Throws: A `missingInput` failure when reading fails, `badInput` for a source in UTF-16.
    func next() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return try line(upTo: end)
            }
            if ended {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return try line(upTo: buffer.count)
            }
            searched = min(buffer.count - start, Self.limit + Self.chunk)
            try fill()
        }
    }

    /// The whole source, without a byte order mark.
    ///
    /// - Parameter limit: More than this many bytes are refused.
    /// - Throws: `missingInput` when reading fails, `badInput` for too much, and for a source in UTF-16.
    func everything(limit: Int) throws(CommandFailure) -> [UInt8] {
        while !ended && buffer.count <= limit { try fill() }
        guard buffer.count <= limit else {
            throw CommandFailure(.badInput, "\(name) has more than \(limit) bytes")
        }
        try skipMark()
        return Array(buffer[start...])
    }

    private func line(upTo end: Int) throws(CommandFailure) -> [UInt8] {
        if lineNumber == 0 { try skipMark() }
        lineNumber += 1
        var last = min(end, start + Self.limit)
        if last > start && buffer[last - 1] == UInt8(ascii: "\r") { last -= 1 }
        return Array(buffer[start..<last])
    }

    /// Skips a byte order mark. Nothing was returned before.
    private func skipMark() throws(CommandFailure) {
        guard let mark = ByteOrderMark.length(before: buffer.span.extracting(start..<buffer.count)) else {
            throw CommandFailure(.badInput, "\(name): \(ByteOrderMark.utf16)")
        }
        start += mark
    }

    /// Drops what was returned and reads more.
    private func fill() throws(CommandFailure) {
        buffer.removeSubrange(..<start)
        start = 0
        // Of a line beyond the limit the rest is not kept: each new chunk overwrites the one before.
        let target = min(buffer.count, Self.limit + Self.chunk)
        buffer.removeSubrange(target...)
        buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
        while true {
            let count = buffer.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: target), Self.chunk)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.missingInput, "cannot read \(name): \(String(cString: strerror(errno)))")
            }
            ended = count == 0
            buffer.removeSubrange((target + count)...)
            return
        }
    }
}
