/// How full a queue is.
package struct QueueDepth: Sendable, Equatable {
    /// Messages ready to be delivered.
    package var messages: Int
    /// Consumers.
    package var consumers: Int
}
