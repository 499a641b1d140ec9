import Glibc

/// What stands behind a descriptor.
package enum FileKind {
    /// Whether it is a plain file or a directory: reading never waits for anybody, as from a pipe, socket or device.
    ///
    /// - Parameter descriptor: An open descriptor, which stays the caller's.
    package static func isStored(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }
}
