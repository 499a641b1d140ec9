import CLinux
import Glibc
import Synchronization

/// Ends the wait of an event loop from any thread.
///
/// It is an eventfd(2), which is closed when the loop and all its mailboxes are gone.
package final class Wakeup: Sendable {
    /// The eventfd the loop watches.
    let fileDescriptor: Int32
    /// Whether a wake-up is already on its way. It saves system calls when messages come in bursts.
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
        // If the flag is set, nothing more is needed: the loop clears it before it looks into its mailboxes.
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Takes the wake-up back. The loop's thread calls this before it looks into its mailboxes.
    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
        isPending.store(false, ordering: .sequentiallyConsistent)
    }
}
