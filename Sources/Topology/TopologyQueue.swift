/// A queue of the broker: durable, and without any argument but its kind, since arguments cannot be changed later.
package struct TopologyQueue: Sendable, Equatable {
    /// What a queue does with its messages, as the argument ``argument`` names it.
    package enum Kind: String, Sendable {
        /// The argument of a queue that says it.
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
