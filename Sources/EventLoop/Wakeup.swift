import CLinux
import Glibc
import Synchronization

/// Ends the wait of an event loop from any thread; an eventfd(2) that closes with the last of its loop and mailboxes.
package final class Wakeup: Sendable {
    /// The eventfd the loop watches.
    let fileDescriptor: Int32
    /// Whether a wake-up is already on its way: spares the system call when messages come in bursts.
    private let isPending = Atomic<Bool>(false)

    /// Opens the eventfd.
    ///
    /// - Throws: `EventLoopError` when the process has no descriptor left.
    init() throws(EventLoopError) {
        fileDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw EventLoopError(.systemCall, "eventfd", errno: errno) }
    }

    deinit {
        close(fileDescriptor)
    }

    /// Makes the loop's present or next wait return at once.
    package func wake() {
        // Whoever finds the flag set may leave: the loop clears it before it looks into its mailboxes.
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Takes the signal back; the loop's thread calls this before anybody looks into a mailbox.
    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
        isPending.store(false, ordering: .sequentiallyConsistent)
    }
}
