import EventLoop
import LocalStack
package import RabbitMQ

/// An audit whose progress can be awaited.
package struct AuditWatch: Sendable {
    /// Why waiting ended without success.
    package struct Failure: Error, CustomStringConvertible {
        /// What happened and how far the run had come.
        package let description: String

        /// A failure in words.
        package init(description: String) { self.description = description }
    }

    /// What is read.
    package let audit: RunAudit
    private let changes: AsyncStream<Void>

    /// A watch over an audit that reads nothing yet.
    ///
    /// - Parameter onDelivery: Called with each message that is read, on the reading threads.
    package init(onDelivery: @escaping @Sendable (Delivery) -> Void = { _ in }) {
        let (changes, feed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        audit = RunAudit(onChange: { feed.yield() }, onDelivery: onDelivery)
    }

    /// Starts reading.
    ///
    /// - Parameters:
    ///   - local: Whose broker is read.
    ///   - source: Where to read.
    ///   - onDelivery: Called with each message that is read, on the reading threads.
    /// - Throws: `AMQPError` when a queue cannot be read.
    package init(
        _ local: LocalRun, reading source: RunAudit.Source = .queues,
        onDelivery: @escaping @Sendable (Delivery) -> Void = { _ in }
    ) async throws {
        self.init(onDelivery: onDelivery)
        try await BlockingWork.run("audit") { [audit, uri = local.broker.uri] in try audit.read(uri, from: source) }
    }

    /// Waits until a condition holds for what was read.
    ///
    /// - Parameter condition: Checked at once, and after every batch of messages.
    /// - Throws: `Failure` when reading failed or the task was cancelled before.
    package func until(_ condition: (borrowing RunAudit.State) -> Bool) async throws {
        if audit.look(condition) { return }
        for await _ in changes {
            if let failure = audit.look({ $0.failure }) { throw Failure(description: failure) }
            if audit.look(condition) { return }
        }
        throw Failure(
            description: audit.look { "gave up with \($0.ledger.open) of \($0.ledger.promises) notifications open" })
    }

    /// Waits until this many notifications are final.
    ///
    /// - Parameter finals: How many.
    /// - Throws: The errors of `until(_:)`.
    package func until(finals: Int) async throws { try await until { $0.ledger.finals >= finals } }

    /// Waits until everything promised is final.
    ///
    /// - Throws: The errors of `until(_:)`.
    package func untilComplete() async throws { try await until { $0.ledger.open == 0 } }
}
