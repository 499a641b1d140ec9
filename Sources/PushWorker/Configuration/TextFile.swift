internal import Glibc

/// Reads small files without Foundation, and says in words why one could not be read.
package enum TextFile {
    /// Why a file could not be read.
    package struct Failure: Error, Sendable, Equatable {
        /// The reason as the operating system puts it, without the path.
        package let reason: String
    }

    /// The most bytes a configuration or secret file may have; more is a mistake in the path.
    static let limit = 1 << 20

    /// The bytes of a file.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its content, at most ``limit`` bytes.
    /// - Throws: ``Failure`` when it is missing, unreadable, no plain file, or too large.
    package static func bytes(at path: String) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 16384)
        var content: [UInt8] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return content }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(errno)
            }
            content.append(contentsOf: buffer[..<count])
            if content.count > limit { throw Failure(reason: "larger than \(limit) bytes") }
        }
    }

    /// The first line of a file that holds one secret: editors end lines, passwords have no line ends.
    ///
    /// - Parameter path: The file.
    /// - Returns: The line without its end, in which nothing is trimmed.
    /// - Throws: ``Failure`` when the file cannot be read, is empty, or is no text.
    package static func firstLine(of path: String) throws(Failure) -> String {
        let line = try bytes(at: path).prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { throw Failure(reason: "its first line is empty") }
        guard !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw Failure(reason: "its first line is not UTF-8 text")
        }
        return text
    }

    /// Whether a file can be opened for reading; nil when it can.
    static func problem(at path: String) -> String? {
        do {
            _ = try bytes(at: path)
            return nil
        } catch {
            return error.reason
        }
    }

    /// `path` itself when absolute, else below `directory`.
    static func resolve(_ path: String, against directory: String) -> String {
        path.hasPrefix("/") || directory.isEmpty ? path : "\(directory)/\(path)"
    }

    /// The directory part of a path, empty when it has none.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func failure(_ number: Int32) -> Failure {
        Failure(reason: strerror(number).map { String(cString: $0) } ?? "error \(number)")
    }
}
