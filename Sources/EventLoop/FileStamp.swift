import Glibc

/// Tells one content of a file from the next without reading it: device, inode, length, and times of change.
///
/// Links are followed. Kubernetes mounts each file of a secret as a link into a directory, and swaps the directory as a
/// whole: the stamp changes with the swap. A file that is renamed into place is another inode.
///
/// The type stands in this module, because `stat` can only mean the system's structure here. Beside a module with C
/// headers of its own, the compiler may take `stat` for a declaration of those headers.
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
