import Glibc

/// What tells one content of a file from the next without reading it: who it is, how long, and when it was written.
///
/// Links are followed, so that a file which is a link into a directory that is swapped as a whole, as Kubernetes mounts
/// secrets, changes with the swap; a file renamed into place is another inode.
///
/// It stands here, where the system's structures come from nowhere but the system: beside a module that brings headers of
/// its own, the compiler may take `stat` for one of that module's.
package struct FileStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    /// Its length in bytes.
    package let size: Int64
    private let modified: [Int]
    private let changed: [Int]

    /// The stamp of a file; nil while the file is missing or may not be looked at.
    ///
    /// - Parameter path: The file.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
