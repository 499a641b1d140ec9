import PushModel

/// Decides how many messages a route's consumers may hold unacknowledged.
///
/// Prefetch is the only queue in the process. It follows the streams that the connections have, open or free. It counts
/// notifications rather than messages.
///
/// It asks for no more messages than fit the queue's share of the worker's memory (``MemoryClaim``), by the sizes of
/// earlier messages. Messages that are on their way when sizes jump are still taken: at worst one window of the largest
/// bodies.
///
/// AMQP can change the prefetch only for a new consumer, so small changes are ignored. A prefetch whose messages take
/// more than the queue's share is changed in any case. Pure.
package struct RouteCredit {
    /// Fewest messages of one notification each.
    package static let minimum = 32
    /// Most messages: also the limit of quorum queues (rabbitmq.com, "Consumer Prefetch").
    package static let maximum = 2_000
    /// Fewest messages when each carries many notifications, or when a rate lets few through.
    package static let multicastMinimum = 2
    /// How much of its share a queue is to fill. While the average size grows by no more than a third, the queue's
    /// messages still fit, and the prefetch need not change.
    package static let fill = 0.75

    /// The configured prefetch; nil to follow the connections.
    private let fixed: Int?
    /// The part of the rate that the messages can count on, from 0 to 1.
    private var part: Double
    /// Notifications per second that the route may send on this lane; nil for no limit.
    private var rate: Double?
    /// Seconds that a window may take at the rate, where it has several messages. A window that takes longer could
    /// outlast the broker's patience with a consumer (30 minutes).
    private static let longestWindow = 300.0
    /// Seconds that a window should take at the rate. Of a backlog that fits into one worker's window, the other workers
    /// get nothing, and each sends only its own part of the rate. Answers that take as long do not slow the route down.
    private static let usualWindow = 5.0

    /// Notifications per second that the messages can count on; infinite without a rate.
    private var dueRate: Double { (rate ?? .infinity) * part }
    /// Notifications per message, as a moving average.
    private var notificationsPerMessage = 1.0
    /// Notifications per message as a moving average, for the limit that the rate sets.
    ///
    /// The average starts with the most that a message can have, because a window of such messages could outlast the
    /// broker's patience. Small messages do not starve: at first the window has room for what the rate lets through
    /// within 0.3 s, and it opens as they arrive.
    private var notificationsAtMost = Double(Job.maximumTokens)
    /// Bytes per message, as a moving average. The average starts with the largest body, because a whole backlog may be
    /// of that size.
    private var bytesPerMessage = Double(JobDecoder.maximumBodyLength)

    /// Creates the credit of one route on one lane.
    ///
    /// - Parameters:
    ///   - fixed: `prefetch` of the configuration; nil for auto.
    ///   - rate: Notifications per second that the route may send on this lane; nil for no limit.
    ///   - part: The part of the rate that the messages can count on, from 0 to 1.
    package init(fixed: Int?, rate: Double?, part: Double = 1) {
        self.fixed = fixed
        self.part = part
        self.rate = rate
    }

    /// A copy for messages that can count on another part of the rate, from 0 to 1.
    func counting(on part: Double) -> RouteCredit {
        var credit = self
        credit.part = part
        return credit
    }

    /// Whether the prefetch follows the connections and the rate; false where it is a configured number.
    var followsRate: Bool { fixed == nil }

    /// Learns that the route has another rate.
    ///
    /// - Parameter rate: Notifications per second that the route may send on this lane; nil for no limit.
    mutating func limit(to rate: Double?) { self.rate = rate }

    /// Learns the shape of a message that arrived.
    package mutating func arrived(notifications: Int, bytes: Int) {
        notificationsPerMessage += (Double(notifications) - notificationsPerMessage) / 16
        notificationsAtMost += (Double(notifications) - notificationsAtMost) / 16
        bytesPerMessage += (Double(bytes) - bytesPerMessage) / 16
    }

    /// The prefetch wanted for the streams that the route's connections have, open or free.
    ///
    /// - Parameters:
    ///   - streams: How many there are.
    ///   - share: How many bytes of messages, headers and bodies, one queue may hold. A queue may hold one message in
    ///     any case, because the route would stand still otherwise.
    package func wanted(streams: Int, share: Int) -> Int {
        if let fixed { return fixed }
        return min(wanted(streams: streams), max(1, Int(Double(share) * Self.fill / max(1, bytesPerMessage))))
    }

    /// The share that a queue needs to keep so many streams busy, in bytes; 0 where the prefetch is fixed.
    package func demand(streams: Int) -> Int {
        fixed == nil ? Int(Double(wanted(streams: streams)) * bytesPerMessage / Self.fill) : 0
    }

    /// The bytes that so many messages of a queue take; 0 for one message, which a queue may hold at any size.
    package func bytes(of messages: Int) -> Int { messages > 1 ? Int(Double(messages) * bytesPerMessage) : 0 }

    /// The prefetch wanted for some streams, within what the rate and quorum queues allow. Memory is not considered.
    private func wanted(streams: Int) -> Int {
        let perMessage = max(1, notificationsPerMessage)
        let floor = max(Self.multicastMinimum, Int(Double(Self.minimum) / perMessage))
        let wanted = max(floor, Int((Double(streams) * 1.5 / perMessage).rounded(.up)))
        let usual = max(Double(Self.multicastMinimum), dueRate * Self.usualWindow / perMessage)
        let most = dueRate * Self.longestWindow / max(1, notificationsAtMost)
        return min(wanted, max(1, Int(min(usual, most, Double(Self.maximum)))), Self.maximum)
    }

    /// Whether a change from `current` is worth a new consumer: to at least twice as much, or at most half as much.
    package func isWorthChanging(from current: Int, to wanted: Int) -> Bool {
        wanted >= current * 2 || wanted * 2 <= current
    }
}
