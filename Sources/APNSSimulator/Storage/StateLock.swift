import Glibc
import Synchronization

/// Makes sure that only one program works on a state directory, or on a part of it. Safe from any thread.
///
/// The lock is the kernel's (`flock(2)`). It ends with the process, even after a crash.
final class StateLock: Sendable {
    /// The open file that carries the lock; nil once it is given back.
    private let descriptor: Mutex<Int32?>

    /// Takes the lock.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: ``SimulatorError`` where another simulator has it or the file cannot be made.
    init(of directory: StateDirectory) throws(SimulatorError) {
        let path = directory.file("lock")
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SimulatorError(.file, "cannot write \(path)") }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw SimulatorError(
                .file,
                "the state directory \(directory.path) is in use by another simulator; stop that one, or choose "
                    + "another --state-directory")
        }
        descriptor = Mutex(file)
    }

    /// Takes the lock under which the authority is made, and waits for the lock if necessary. Several programs share
    /// the authority, and each holds the lock only briefly.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: ``SimulatorError`` where the file cannot be made or locked.
    init(waitingIn directory: StateDirectory) throws(SimulatorError) {
        let path = directory.file("authority.lock")
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SimulatorError(.file, "cannot write \(path)") }
        while flock(file, LOCK_EX) != 0 {
            if errno == EINTR { continue }
            close(file)
            throw SimulatorError(.file, "cannot lock \(path)")
        }
        descriptor = Mutex(file)
    }

    deinit { release() }

    /// Gives the lock back; later calls change nothing.
    func release() {
        descriptor.withLock { file in
            if let file { close(file) }
            file = nil
        }
    }
}
