/// How a message came to the queue that delivered it, as far as the broker proves it. What a message says about itself
/// counts only as far as its way proves it.
///
/// `init(exchange:foreignDeath:in:trusting:)` of the worker decides it.
package enum DeliveryWay: Sendable, Equatable {
    /// It came back from a tier. Only workers write to tiers, so the headers of copies count.
    case returned
    /// A producer published it, under a routing key that the broker's topic permissions cover, or that an exchange of
    /// `jobs.from` vouches for.
    case published
    /// Somebody moved it from one queue to another: by the management UI, a shovel or the federation of queues. Its
    /// routing key is now the name of the queue.
    case moved
    /// It came by an exchange that nobody vouches for. The exchange's name stands in this part of the message's buffer.
    case exchange(Range<Int>)
    /// It came to `apns.jobs` by the dead letters of a queue that is not ours. The queue's name stands in this part of
    /// the message's buffer.
    case deadLetters(of: Range<Int>)

    /// Whether nothing proves that the producer was allowed to use the routing key.
    package var isUntrusted: Bool {
        switch self {
        case .returned, .published, .moved: false
        case .exchange, .deadLetters: true
        }
    }
}
