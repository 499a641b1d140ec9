import Topology
import WorkerSettings

/// The way of a reply to the producer's queue.
enum ReplyWay: Equatable {
    /// Through `apns.replies`, with `reply_to` as the routing key.
    case exchange
    /// Through the default exchange, to the queue that has the name in `reply_to`.
    case queue

    /// The next step once the broker said what became of a reply.
    enum Step: Equatable {
        /// The reply arrived.
        case done
        /// The reply is published again, straight to its queue.
        case tryQueue
        /// The reply is lost, or may be lost. The words go into the detail of the result.
        case lost(String)
    }

    /// Why a worker does not reply to an address, in words for the detail of a result; nil where it may.
    ///
    /// Direct reply-to is refused. A reply may be due after hours, and the broker need not say that nobody waits for
    /// it.
    ///
    /// - Parameters:
    ///   - address: The bytes of `reply_to`.
    ///   - allowed: Which addresses the configuration allows.
    static func refusal(of address: Span<UInt8>, allowed: ReplyPattern) -> String? {
        guard address.hasPrefix("amq.rabbitmq.reply-to") else {
            return allowed.allows(address) ? nil : "the worker's replies.allow does not match reply_to"
        }
        return "direct reply-to is not supported, because a broker does not say whether such a reply arrives, and a "
            + "job may outlive the connection that waits for it; declare a queue, and put its name into reply_to"
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - fate: What became of the reply.
    ///   - address: The bytes of `reply_to`.
    ///   - mayWriteToQueues: False once the broker refused to let the worker publish to its default exchange.
    func step(
        after fate: ConfirmTracker<Publication>.Fate, address: Span<UInt8>, mayWriteToQueues: Bool
    ) -> Step {
        switch fate {
        case .confirmed: .done
        case .returned: afterReturn(address, mayWriteToQueues)
        case .perhapsReturned: .lost("may be lost: \(Self.advice)")
        case .refused: .lost("was lost: the broker refused it, for instance because the queue is full")
        case .abandoned: .lost("may be lost: the broker did not confirm it")
        case .unfit: .lost("was lost: it fits no frame of the broker")
        }
    }

    private func afterReturn(_ address: Span<UInt8>, _ mayWriteToQueues: Bool) -> Step {
        guard mayWriteToQueues else {
            return .lost(
                "was lost: no queue is bound to \(TopologyNames.replies) with reply_to as the routing key, and the "
                    + "worker's user may not write to the default exchange (amq.default)")
        }
        // A producer must not reach job queues, results or dead letters by means of `reply_to`.
        if self == .exchange, !Self.isOwnQueue(address) { return .tryQueue }
        return .lost("was lost: \(Self.advice)")
    }

    private static let advice =
        "reply_to routes nowhere; declare a queue of that name, or bind a queue to \(TopologyNames.replies) with it as "
        + "the routing key"

    /// Whether an address could be the name of a Martlet queue that is not for replies.
    private static func isOwnQueue(_ address: Span<UInt8>) -> Bool {
        address.begins(with: queuePrefix) && !address.begins(with: replyQueuePrefix)
    }

    private static let queuePrefix = Array(TopologyNames.queuePrefix.utf8)
    private static let replyQueuePrefix = Array(TopologyNames.replyQueuePrefix.utf8)
}

extension Span where Element == UInt8 {
    /// Whether these bytes begin with others.
    fileprivate func begins(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
    }
}
