import Synchronization

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

    /// Whether nothing waits.
    package var isEmpty: Bool { messages.withLock { $0.isEmpty } }

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
