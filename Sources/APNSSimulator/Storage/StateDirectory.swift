import EventLoop
import FoundationEssentials
import Glibc

/// The directory that keeps what must survive a restart. ``write(_:to:isSecret:limit:)`` replaces a file as a whole or
/// not at all.
struct StateDirectory: Sendable {
    /// The path.
    let path: String

    /// Opens a directory.
    ///
    /// - Parameter path: Where; made where it is missing.
    /// - Throws: ``SimulatorError`` where it cannot be made.
    init(_ path: String) throws(SimulatorError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError(.file, "cannot make the directory \(path): \(error)")
        }
    }

    /// The path of a file.
    ///
    /// - Parameter name: Its name.
    /// - Returns: The whole path.
    func file(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - limit: The largest size that is read, in bytes.
    /// - Returns: Its content; nil without one.
    /// - Throws: ``SimulatorError`` where the file is larger than the limit or there but cannot be read.
    func read(_ name: String, limit: Int) throws(SimulatorError) -> [UInt8]? {
        let path = file(name)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0, close(descriptor) == 0, let size = FileStamp(path: path)?.size else {
            throw unreadable(path)
        }
        guard size <= limit else {
            throw SimulatorError(.file, "\(path) has more than \(limit) bytes; move it away to start without it")
        }
        // A file treated as absent would be replaced.
        guard let content = FileManager.default.contents(atPath: path) else { throw unreadable(path) }
        return [UInt8](content)
    }

    private func unreadable(_ path: String) -> SimulatorError {
        SimulatorError(.file, "cannot read \(path); look at its permissions and its disk")
    }

    /// Writes a file. A crash of the process leaves either the old content or the new content.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - name: Its name.
    ///   - isSecret: Whether only the owner may read it.
    ///   - limit: The limit with which the file will be read, in bytes. A larger content is not written.
    /// - Throws: ``SimulatorError`` where the file cannot be written. The old content then stays.
    func write(_ bytes: [UInt8], to name: String, isSecret: Bool, limit: Int = .max) throws(SimulatorError) {
        let target = file(name)
        guard bytes.count <= limit else {
            throw SimulatorError(.file, "\(target) would have more than \(limit) bytes, which no start would read")
        }
        let draft = "\(target).new"
        // Opened with its final mode, so that other users can never read a key.
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw SimulatorError(.file, "cannot write \(draft)") }
        let isWritten = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
        guard close(descriptor) == 0, isWritten, rename(draft, target) == 0 else {
            throw SimulatorError(.file, "cannot write all of \(target); is the disk full?")
        }
    }

    /// Removes a file, if it is there.
    ///
    /// - Parameter name: Its name.
    func remove(_ name: String) { unlink(file(name)) }

    /// The names of all files with an ending, sorted.
    ///
    /// - Parameter ending: Such as `.json`.
    /// - Returns: The names.
    /// - Throws: ``SimulatorError`` where the directory cannot be read.
    func names(endingWith ending: String) throws(SimulatorError) -> [String] {
        guard let all = try? FileManager.default.contentsOfDirectory(atPath: path) else { throw unreadable(path) }
        return all.filter { $0.hasSuffix(ending) }.sorted()
    }
}
