import EventLoop
import FoundationEssentials
import Glibc

/// The directory that keeps what must survive a restart. Every file is replaced as a whole or not at all.
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
    ///   - limit: More bytes than this are not read.
    /// - Returns: Its content; nil where there is none.
    /// - Throws: ``SimulatorError`` where the file is larger than the limit.
    func read(_ name: String, limit: Int) throws(SimulatorError) -> [UInt8]? {
        guard let size = FileStamp(path: file(name))?.size else { return nil }
        guard size <= limit else {
            throw SimulatorError(.file, "\(file(name)) has more than \(limit) bytes; move it away to start without it")
        }
        return FileManager.default.contents(atPath: file(name)).map([UInt8].init)
    }

    /// Writes a file, so that a crash leaves either the old content or the new one.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - name: Its name.
    ///   - isSecret: Whether only the owner may read it.
    ///   - limit: The limit it will be read with; more bytes than this are not written.
    /// - Throws: ``SimulatorError`` where it cannot be written; the old content then stays.
    func write(_ bytes: [UInt8], to name: String, isSecret: Bool, limit: Int = .max) throws(SimulatorError) {
        let target = file(name)
        guard bytes.count <= limit else {
            throw SimulatorError(.file, "\(target) would have more than \(limit) bytes, which no start would read")
        }
        let draft = "\(target).new"
        // Opened with its final mode, so that a key is at no moment readable by others.
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
    func names(endingWith ending: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return all.filter { $0.hasSuffix(ending) }.sorted()
    }
}
