import FoundationEssentials
import Glibc

/// A directory that is removed with this object, even if the process is killed.
///
/// Only the owner of the files may read them (mode 0700): keys and cookies are written there.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a slash at its end.
    package let path: String

    /// Makes an empty directory under `TMPDIR`, or `/tmp` where that is not set.
    ///
    /// - Parameter prefix: How its name begins.
    /// - Throws: `LocalStackError` when it cannot be made.
    package init(prefix: String = "martlet") throws(LocalStackError) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        var template = Array("\(base.isEmpty ? "/tmp" : base)/\(prefix)-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw .system("mkdtemp(\(base)/\(prefix)-…)", errno: errno) }
        path = made
        OrphanGuard.shared.watch(directory: made)
    }

    deinit {
        remove()
    }

    /// The path of something inside.
    ///
    /// - Parameter name: A relative path.
    /// - Returns: The absolute path; nothing is created.
    package func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file inside that only the owner may read.
    ///
    /// - Parameters:
    ///   - text: The whole content.
    ///   - name: A relative path; its directory must exist.
    /// - Returns: The absolute path of the file.
    /// - Throws: `LocalStackError` when it cannot be written.
    @discardableResult
    package func write(_ text: String, to name: String) throws(LocalStackError) -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Writes bytes to a file inside that only the owner may read.
    ///
    /// - Parameters:
    ///   - bytes: The whole content.
    ///   - name: A relative path; its directory must exist.
    /// - Returns: The absolute path of the file.
    /// - Throws: `LocalStackError` when it cannot be written.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws(LocalStackError) -> String {
        let target = file(name)
        let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open(\(target))", errno: errno) }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            guard count >= 0 || errno == EINTR else { throw .system("write(\(target))", errno: errno) }
            done += max(count, 0)
        }
        return target
    }

    /// Makes a directory inside.
    ///
    /// - Parameter name: A relative path; its parent must exist.
    /// - Returns: The absolute path of the directory.
    /// - Throws: `LocalStackError` when it cannot be made.
    @discardableResult
    package func makeDirectory(_ name: String) throws(LocalStackError) -> String {
        let target = file(name)
        guard mkdir(target, 0o700) == 0 || errno == EEXIST else { throw .system("mkdir(\(target))", errno: errno) }
        return target
    }

    /// Removes the directory and everything in it; harmless when it is gone already.
    package func remove() {
        // A program that is just ending may still write. The second try removes what it wrote.
        for _ in 0..<2 where access(path, F_OK) == 0 {
            try? FileManager.default.removeItem(atPath: path)
        }
        OrphanGuard.shared.forget(directory: path)
    }

    /// Leaves the directory in place when the process ends. The end of this object still removes it.
    package func keep() {
        OrphanGuard.shared.forget(directory: path)
    }
}
