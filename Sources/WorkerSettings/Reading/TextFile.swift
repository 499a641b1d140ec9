import EventLoop
import Glibc
import Text

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
    /// - Parameters:
    ///   - path: The file.
    ///   - mayBePipe: Whether the file may be a pipe, as where a shell puts a pipe in a file's place. Reading then
    ///     waits for the writer, so a running worker must not allow it.
    /// - Returns: Its content, at most ``limit`` bytes.
    /// - Throws: ``Failure`` if the file is missing, unreadable or too large, or if it is not a plain file and
    ///   `mayBePipe` is false.
    package static func bytes(at path: String, mayBePipe: Bool = false) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        guard mayBePipe || FileKind.isStored(descriptor) else { throw Failure(reason: "it is not a plain file") }
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

    /// The bytes of a file that holds text, without a byte order mark.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - mayBePipe: As for ``bytes(at:mayBePipe:)``.
    /// - Throws: ``Failure`` if the file cannot be read, or is written in UTF-16.
    package static func textBytes(at path: String, mayBePipe: Bool = false) throws(Failure) -> ArraySlice<UInt8> {
        let bytes = try bytes(at: path, mayBePipe: mayBePipe)
        guard let mark = ByteOrderMark.length(before: bytes.span) else { throw Failure(reason: ByteOrderMark.utf16) }
        return bytes[mark...]
    }

    /// The first line of a file that holds one secret. Editors end lines, and passwords have no line ends.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - mayBePipe: As for ``bytes(at:mayBePipe:)``.
    /// - Returns: The line without its end and without a byte order mark. Nothing else is trimmed.
    /// - Throws: ``Failure`` if the file cannot be read, or if its first line is empty or not UTF-8 text.
    package static func firstLine(of path: String, mayBePipe: Bool = false) throws(Failure) -> String {
        let line = try textBytes(at: path, mayBePipe: mayBePipe).prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { throw Failure(reason: "its first line is empty") }
        guard !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw Failure(reason: "its first line is not UTF-8 text")
        }
        return text
    }

    /// Why a file cannot be read (see ``bytes(at:mayBePipe:)``); nil if it can.
    static func problem(at path: String) -> String? {
        do {
            _ = try bytes(at: path)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Why no files can be made in a directory; nil if they can. A missing directory is fine if it can be made.
    static func directoryProblem(at path: String) -> String? {
        var place = path
        while place.count > 1, place.hasSuffix("/") { place.removeLast() }
        if trouble(with: place) == ENOENT {
            var byte: CChar = 0
            // Only a missing directory can be made, not the target of a broken link.
            guard readlink(place, &byte, 1) < 0 else { return "cannot use \(place): \(failure(ENOENT).reason)" }
            place = directory(of: place)
            if place.isEmpty { place = "." }
        }
        return switch trouble(with: place) {
        case nil: nil
        case ENOENT: "cannot make \(path), for \(place) is missing: \(failure(ENOENT).reason)"
        case ENOTDIR: "\(place) is not a directory"
        case let number?: "cannot write to \(place): \(failure(number).reason)"
        }
    }

    /// The error number that keeps files from being made in a directory; nil if they can be made.
    private static func trouble(with directory: String) -> Int32? {
        faccessat(AT_FDCWD, "\(directory)/.", W_OK | X_OK, AT_EACCESS) == 0 ? nil : errno
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
