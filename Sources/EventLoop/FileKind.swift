import Glibc

/// The kind of file behind a descriptor.
package enum FileKind {
    /// Whether it is a plain file or a directory, from which a read never waits for somebody. A read from a pipe,
    /// socket or device may wait.
    ///
    /// - Parameter descriptor: An open descriptor, which stays the caller's.
    package static func isStored(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }
}
