import Glibc

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

    /// The next line without its end, or `nil` after the last.
    ///
    /// - Throws: A `missingInput` failure when reading fails.
    func next() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(upTo: end)
            }
            if ended {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return line(upTo: buffer.count)
            }
            searched = min(buffer.count - start, Self.limit + Self.chunk)
            try fill()
        }
    }

    /// Everything that is left.
    ///
    /// - Parameter limit: More than this many bytes are refused.
    /// - Throws: `missingInput` when reading fails, `badInput` when there is too much.
    func everything(limit: Int) throws(CommandFailure) -> [UInt8] {
        while !ended && buffer.count <= limit { try fill() }
        guard buffer.count <= limit else {
            throw CommandFailure(.badInput, "\(name) has more than \(limit) bytes")
        }
        return buffer
    }

    private func line(upTo end: Int) -> [UInt8] {
        lineNumber += 1
        var last = min(end, start + Self.limit)
        if last > start && buffer[last - 1] == UInt8(ascii: "\r") { last -= 1 }
        return Array(buffer[start..<last])
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
