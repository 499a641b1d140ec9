internal import CLinux
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

/// Messages from any thread to the thread of one loop, in the order they were posted.
///
/// It has no limit of its own: only this process posts, and only rare things (commands, finished connects).
package final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    private let wakeup: Wakeup

    /// Makes an empty mailbox.
    ///
    /// - Parameter wakeup: The wake-up of the loop whose thread takes the messages.
    package init(waking wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    /// Adds a message and wakes the loop.
    ///
    /// - Parameter message: The message.
    package func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        wakeup.wake()
    }

    /// Takes all messages; call it after each turn of the loop.
    ///
    /// - Returns: The messages in the order they were posted; an empty mailbox costs no allocation.
    package func take() -> [Message] {
        messages.withLock { messages in
            guard !messages.isEmpty else { return [] }
            var taken: [Message] = []
            swap(&taken, &messages)
            return taken
        }
    }
}
