/// A queue of the broker. It is durable, and its kind is its only argument, because arguments cannot be changed later.
package struct TopologyQueue: Sendable, Equatable {
    /// What a queue does with its messages. The raw value is that of the argument ``argument``.
    package enum Kind: String, Sendable {
        /// The name of a queue's argument for its kind.
        static let argument = "x-queue-type"

        /// Each message goes to one consumer.
        case quorum
        /// Each message goes to every consumer. [Streams](https://www.rabbitmq.com/docs/streams)
        case stream
    }

    /// The name.
    package let name: String
    /// What it does with its messages.
    package let kind: Kind
    /// The name of the policy that is to be in effect for it.
    package let policy: String
}
