/// The broker's answer to an `AMQPRequest`, reduced to the values that tools use.
package enum AMQPAnswer: Sendable, Equatable {
    /// The request is carried out.
    case done
    /// The queue that was declared or inspected, with its ready messages and its consumers.
    case queue(name: String, messages: Int, consumers: Int)
    /// How many messages were removed.
    case count(Int)
    /// A fetched message follows as a delivery.
    case message
    /// The queue had no message to fetch.
    case noMessage
}
