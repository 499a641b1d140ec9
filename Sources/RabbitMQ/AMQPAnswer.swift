/// An answer to a request about queues and exchanges, with what tools want to know of it.
package enum AMQPAnswer: Sendable, Equatable {
    /// It is done.
    case done
    /// A queue, by declaring or looking at it.
    case queue(name: String, messages: Int, consumers: Int)
    /// How many messages were removed.
    case count(Int)
    /// A fetched message follows as a delivery.
    case message
    /// The queue had no message to fetch.
    case noMessage
}
