/// How many messages a queue holds.
package struct QueueCounts: Sendable, Equatable {
    /// Messages that wait for a consumer.
    package var ready: Int
    /// Messages that were delivered and not settled yet.
    package var unacknowledged: Int

    /// Both together: what the queue keeps.
    package var total: Int { ready + unacknowledged }

    /// Makes counts.
    ///
    /// - Parameters:
    ///   - ready: Messages that wait for a consumer.
    ///   - unacknowledged: Messages that were delivered and not settled yet.
    package init(ready: Int, unacknowledged: Int) {
        self.ready = ready
        self.unacknowledged = unacknowledged
    }
}
