internal import CLinux
internal import Glibc
internal import Synchronization

/// Wakes a loop that waits, from any thread (eventfd(2)).
package final class Wakeup: Sendable {
    let descriptor: Int32

    init() throws(EventLoopError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else { throw .last("eventfd") }
    }

    deinit { close(descriptor) }

    /// Makes the current or next turn of the loop end at once.
    package func wake() {
        var one: UInt64 = 1
        // A full counter already wakes, so a failure here means nothing.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the loop wait again; on its thread.
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}

/// Carries messages from any thread to the one that turns a loop.
package final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    private let wakeup: Wakeup

    /// A mailbox whose messages wake the loop.
    package init(waking wakeup: Wakeup) { self.wakeup = wakeup }

    /// Leaves a message and wakes the loop.
    package func post(_ message: sending Message) {
        let message = message
        messages.withLock { $0.append(message) }
        wakeup.wake()
    }

    /// Takes all messages, in the order they were posted.
    package func take() -> [Message] {
        messages.withLock { messages in
            guard !messages.isEmpty else { return [] }
            defer { messages = [] }
            return messages
        }
    }
}
