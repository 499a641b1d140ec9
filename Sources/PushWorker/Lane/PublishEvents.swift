import EventLoop
import RabbitMQ

/// Events of the publish connection.
final class PublishEvents: BrokerLinkDelegate {
    private unowned let lane: Lane
    private var outage = OutageLog()

    init(lane: Lane) { self.lane = lane }

    func connectionOpened(_ role: BrokerLink.Role, now: MonotonicTime) {
        lane.log.connected(role, after: outage.works(now: now))
        lane.heartbeatNegotiated()
        if let allowed = lane.publishLink.session?.channelMax, allowed > 0, allowed < PublishChannels.count {
            lane.publishLink.distrust(
                "the broker allows \(allowed) channels, and publishing needs \(PublishChannels.count)")
            return
        }
        lane.publisher.connectionOpened()
        lane.consumeLink.connectAtOnce(now: now)
    }

    func addressFailed(_ role: BrokerLink.Role, error: AMQPError) { lane.log.addressFailed(role, error) }

    func connectionLost(_ role: BrokerLink.Role, error: AMQPError, now: MonotonicTime) {
        lane.log.connectionLost(role, error, level: outage.failed(error.kind, now: now))
        lane.publisher.connectionLost()
    }

    func channelOpened(_ channel: UInt16) { lane.publisher.channelOpened(channel, now: lane.now) }
    func confirmsSelected(_ channel: UInt16) {
        lane.publisher.confirmsSelected(channel)
        for route in lane.routes { lane.mark(route) }
    }

    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        // A channel that is no longer in use is a slow one that was replaced. The worker itself closes it.
        guard lane.publisher.uses(channel) else { return }
        lane.log.publishChannelClosed(code: code, text: text)
        lane.publisher.channelClosed(channel, code: code, text: text, now: lane.now)
    }

    func connectionClosed(code: UInt16, text: String) {
        lane.log.connectionClosing(code: code, text: text)
    }

    func connectionBlocked(reason: String) {
        lane.log.publishingBlocked(reason)
    }
    func connectionUnblocked() {
        lane.publisher.unblocked(now: lane.now)
        lane.log.publishingUnblocked()
    }

    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        lane.publisher.returned(
            channel: channel, messageID: messageID, exchange: exchange, routingKey: routingKey)
    }

    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        lane.publisher.confirmed(channel: channel, tag: tag, multiple: multiple, positive: positive, now: lane.now)
    }

    func qosSet(_ channel: UInt16) {}
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {}
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {}
    func delivered(_ delivery: consuming Delivery) {}
}
