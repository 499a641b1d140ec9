import EventLoop
import Logging
import RabbitMQ
import Topology

/// The channel on which a route consumes its queues: what the broker says on it, and what the route asks of the broker.
/// `RouteConsumer` decides the methods, and `RoutePrefetch` how many messages may be delivered.
///
/// When a channel is gone, its deliveries are gone, too. This type tells hosts, outbox and deliveries.
///
/// Confined to its lane. Time comes in.
final class RouteChannel {
    /// The consumer tags of a route's channel: the queue's position and the consumer's number.
    ///
    /// No tag is used twice on a channel. A quorum queue knows a consumer by channel and tag. If a cancelled consumer
    /// has unacknowledged messages, the queue continues its count of messages for the next consumer with that tag. The
    /// broker's channel begins a new count. The channel takes the difference for lost deliveries. RabbitMQ 3.10.8 was
    /// seen to close the connection then (541).
    enum ConsumerTag {
        /// The tag of a queue's consumer.
        static func text(_ queue: Int, serial: UInt32) -> String { "q\(queue).\(serial)" }

        /// The position of the queue that a tag stands for; nil if no number follows the tag's first character.
        static func queue(_ tag: some Sequence<UInt8>) -> Int? {
            Int(String(decoding: tag.dropFirst().prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
        }
    }

    /// Its number on the lane's consume connection.
    let number: UInt16
    /// The queues that are consumed on it: that of the route's retries first, the high one last.
    let queues: [String]
    /// Decides the methods.
    private(set) var consumer: RouteConsumer
    private let prefetch: RoutePrefetch
    private let hosts: RouteHosts
    private let outbox: Outbox
    private let deliveries: RouteDeliveries
    private let outages: RouteOutages
    /// Whether the broker closed the channel, and the queues are not all consumed again.
    private var isInTrouble = false
    private var hasEnded = false
    private var random: Randomness

    /// A channel that is not open yet.
    ///
    /// - Parameters:
    ///   - route: The name of the route.
    ///   - position: The position of the route on the lane.
    ///   - queues: The queues: that of the route's retries first, the high one last.
    ///   - prefetch: Decides how many messages may be delivered.
    ///   - hosts: Drop what was not sent once the channel is gone.
    ///   - outbox: Drops the jobs that are refused.
    ///   - deliveries: The deliveries of the channel.
    ///   - outages: Decide what the log tells of a channel that the broker closes.
    ///   - random: Spreads its attempts.
    init(
        of route: String, at position: Int, queues: [String], prefetch: RoutePrefetch, hosts: RouteHosts,
        outbox: Outbox, deliveries: RouteDeliveries, outages: RouteOutages, random: Randomness
    ) {
        number = UInt16(position + 1)
        self.queues = queues
        let high = hosts.devices.takesHighFirst ? queues.firstIndex(of: TopologyNames.highJobQueue(route: route)) : nil
        consumer = RouteConsumer(
            queues: queues.count, optional: queues.firstIndex { $0.hasSuffix(TopologyNames.returnSuffix) }, high: high)
        (self.prefetch, self.hosts, self.outbox, self.deliveries) = (prefetch, hosts, outbox, deliveries)
        (self.outages, self.random) = (outages, random)
    }

    /// The tag of the present consumer of a queue.
    ///
    /// - Parameter queue: The queue's position.
    func consumerTag(_ queue: Int) -> String { ConsumerTag.text(queue, serial: consumer.serial(of: queue)) }

    /// The request that the broker has not answered; nil without one.
    var unanswered: RouteConsumer.Request? { consumer.unanswered }

    /// When it has something to do only because time passed; nil for never.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        guard let due = consumer.nextDue(now: now) else { return prefetch.nextDue(after: now) }
        return min(due, prefetch.nextDue(after: now) ?? due)
    }

    // MARK: What the broker says

    /// The consume connection is there.
    func connected() { consumer.connected() }

    /// The consume connection is gone.
    func connectionLost(at moment: Moment) {
        generationEnded(at: moment)
        consumer.connectionLost()
    }

    /// The broker opened the channel.
    func opened(at moment: Moment) {
        generationEnded(at: moment)
        consumer.channelOpened()
        deliveries.generationBegan(at: moment)
    }

    /// The broker closed the channel.
    ///
    /// - Returns: The level at which the log tells it; nil where the route asked for the close.
    @discardableResult
    func closed(code: UInt16, text: String, at moment: Moment) -> Logger.Level? {
        let isAsked = hasEnded || consumer.isAbandoned
        generationEnded(at: moment)
        consumer.channelClosed(code: code, text: text, now: moment.monotonic, random: &random)
        guard !isAsked else { return nil }
        isInTrouble = true
        return outages.channelClosed(code: code, text: text, now: moment.monotonic)
    }

    /// The broker accepted the prefetch.
    func prefetchSet() { consumer.prefetchSet() }

    /// The broker started a consumer.
    ///
    /// - Returns: The trouble with the channel that is over, because all queues are consumed again; nil without one.
    @discardableResult
    func consumeStarted(at moment: Moment) -> OutageLog.Ended? {
        consumer.consumeStarted()
        deliveries.consumeStarted(at: moment)
        guard isInTrouble, consumer.isServing else { return nil }
        isInTrouble = false
        return outages.consumes(now: moment.monotonic)
    }

    /// A consumer ended, as the worker asked.
    func consumeCancelled(_ consumerTag: [UInt8]) {
        guard let queue = ConsumerTag.queue(consumerTag), queues.indices.contains(queue) else { return }
        consumer.consumeCancelled(queue: queue)
    }

    /// What the log tells of a consumer that the broker cancelled.
    struct Cancel {
        /// The name of the consumer's queue.
        let queue: String
        /// Why, in words.
        let cause: String
        let level: Logger.Level
    }

    /// The broker cancelled a consumer. The channel is closed, so that its deliveries come again as after any loss of a
    /// channel.
    ///
    /// - Returns: Nil for a tag that is not the route's, and for a channel that is given up already.
    func cancelledByBroker(_ consumerTag: [UInt8], at moment: Moment) -> Cancel? {
        guard let queue = ConsumerTag.queue(consumerTag), queues.indices.contains(queue) else { return nil }
        let hasDeliveries = !deliveries.isEmpty
        guard consumer.cancelledByBroker(hasDeliveries: hasDeliveries, now: moment.monotonic, random: &random) else {
            return nil
        }
        generationEnded(at: moment)
        isInTrouble = true
        return Cancel(
            queue: queues[queue], cause: RouteConsumer.cancelCause(hasDeliveries: hasDeliveries),
            level: outages.consumerCancelled(now: moment.monotonic))
    }

    /// The channel generation ended. Jobs that were not sent are dropped, because the broker delivers them again. Jobs
    /// that were sent are remembered.
    func generationEnded(at moment: Moment) {
        outbox.generationEnded()
        hosts.generationEnded()
        deliveries.generationEnded(at: moment)
    }

    // MARK: What is asked of the broker

    /// Asks for more or for less of the worker's memory, by what the route does with its prefetch.
    func claimMemory(now: MonotonicTime) {
        prefetch.claimMemory(
            isFull: hosts.devices.breaker.intake == .full, streams: hosts.streams, wanted: consumer.wantedPrefetch,
            current: consumer.currentWindow, unacknowledged: deliveries.ledger.unacknowledged, now: now)
    }

    /// Sets how many messages the route wants.
    ///
    /// - Parameter situation: What decides the number; nil for no messages.
    func want(_ situation: RoutePrefetch.Situation?) {
        guard let situation else {
            consumer.wantedWindow = RoutePrefetch.Window()
            return
        }
        consumer.wantedWindow = prefetch.wanted(
            in: situation, instead: consumer.wantedWindow, current: consumer.currentWindow)
    }

    /// The methods to send now, in this order.
    func actions(at moment: Moment) -> [RouteConsumer.Action] {
        consumer.reconsider(now: moment.monotonic, isIdle: deliveries.isEmpty)
        let actions = consumer.actions(at: moment)
        for case .startConsuming(let queue) in actions {
            deliveries.granted(consumer.wanted(of: queue), besideMessages: consumer.grantedMessages)
        }
        return actions
    }

    /// The route ends: the channel is closed in a while, and its memory is free for others.
    func end(now: MonotonicTime) {
        hasEnded = true
        prefetch.releaseMemory()
        consumer.end(now: now)
    }
}
