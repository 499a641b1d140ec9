import EventLoop
import Logging
import RabbitMQ

// What the broker does: the events of a route's channel on the consume connection, and the fates of its publications.
extension Route {
    /// The tag of the present consumer of a queue.
    ///
    /// - Parameter queue: The queue's position.
    func consumerTag(_ queue: Int) -> String { ConsumerTag.text(queue, serial: consumer.serial(of: queue)) }

    /// What the broker was asked for on the channel and has not answered; nil where it owes nothing.
    var unanswered: RouteConsumer.Request? { consumer.unanswered }

    /// The consume connection is there.
    func connected() { consumer.connected() }

    /// The consume connection is gone.
    func connectionLost(at moment: Moment) {
        generationEnded(at: moment)
        consumer.connectionLost()
    }

    /// The broker opened the channel.
    func channelOpened(at moment: Moment) {
        generationEnded(at: moment)
        consumer.channelOpened()
        deliveries.generationBegan(consumer.generation, at: moment)
    }

    /// The broker closed the channel.
    ///
    /// - Returns: The level at which the log tells it; nil where the route is over, and asked for this.
    @discardableResult
    func channelClosed(code: UInt16, text: String, at moment: Moment) -> Logger.Level? {
        generationEnded(at: moment)
        consumer.channelClosed(code: code, text: text, now: moment.monotonic, random: &random)
        guard tenure == .staying || tenure == .leaving else { return nil }
        return channelOutage.failed("\(code) \(text)", now: moment.monotonic)
    }

    /// The broker accepted the prefetch.
    func prefetchSet() {
        if consumer.prefetchSet() { deliveries.channelProved() }
    }

    /// The broker started a consumer.
    ///
    /// - Returns: The trouble with the channel that is over, because all queues are consumed again; nil without one.
    @discardableResult
    func consumeStarted(at moment: Moment) -> OutageLog.Ended? {
        consumer.consumeStarted()
        deliveries.consumeStarted(at: moment)
        return consumer.isServing ? channelOutage.works(now: moment.monotonic) : nil
    }

    /// A consumer ended.
    ///
    /// - Parameters:
    ///   - consumerTag: Its tag.
    ///   - byBroker: Whether the broker ended the consumer, and not the worker.
    ///   - moment: The time.
    /// - Returns: The name of its queue; nil for a tag that is not the route's.
    func consumeCancelled(_ consumerTag: [UInt8], byBroker: Bool, at moment: Moment) -> String? {
        guard let queue = ConsumerTag.queue(consumerTag), queues.indices.contains(queue) else { return nil }
        consumer.consumeCancelled(
            queue: queue, byBroker: byBroker, now: moment.monotonic, random: &random)
        return queues[queue]
    }

    /// Takes one delivery of the route's channel.
    ///
    /// - Returns: False when the delivery's tag is out of sequence, which means the channel cannot be trusted any more.
    func delivered(_ delivery: consuming Delivery, at moment: Moment) -> Bool {
        arrivals.delivered(delivery, at: moment)
    }

    /// The channel generation ended. Jobs that were not sent are dropped, because the broker delivers them again. Jobs
    /// that were sent are remembered.
    func generationEnded(at moment: Moment) {
        outbox.generationEnded()
        hosts.generationEnded()
        deliveries.generationEnded(at: moment)
    }

    /// Sends what is owed for deliveries: acknowledgements that are due, and what goes back to the broker.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - isDraining: Whether the lane drains. Acknowledgements then do not wait for others.
    ///   - send: Sends one method; false where the connection has no room for it.
    /// - Returns: What was sent.
    /// - Throws: What `send` throws.
    func settleDeliveries<Failure: Error>(
        at moment: Moment, isDraining: Bool, _ send: (DeliveryLedger.Debt) throws(Failure) -> Bool
    ) throws(Failure) -> DeliveryLedger.Payment {
        try deliveries.settle(at: moment, isDraining: isDraining, send)
    }

    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        settlement.published(publication, fate, at: moment)
    }
}
