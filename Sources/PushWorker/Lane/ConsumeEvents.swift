import EventLoop
import RabbitMQ

/// Events of the consume connection: each channel belongs to one route.
final class ConsumeEvents: BrokerLinkDelegate {
    private unowned let lane: Lane
    private var outage = OutageLog()

    init(lane: Lane) { self.lane = lane }

    private func route(_ channel: UInt16) -> Route? {
        let position = Int(channel) - 1
        return lane.routes.indices.contains(position) ? lane.routes[position] : nil
    }

    /// Tells a route what happened to its channel, and lets the turn look at the route.
    private func with(_ channel: UInt16, _ tell: (Route) -> Void) {
        guard let route = route(channel) else { return }
        tell(route)
        lane.mark(route)
    }

    func connectionOpened(_ role: BrokerLink.Role, now: MonotonicTime) {
        lane.log.connected(role, after: outage.works(now: now))
        lane.heartbeatNegotiated()
        // A broker may allow fewer channels than the worker asked for (`channel_max`). Each route needs one.
        if let allowed = lane.consumeLink.session?.channelMax, allowed > 0, allowed < lane.routes.count {
            lane.consumeLink.distrust(
                "the broker allows \(allowed) channels, and \(lane.routes.count) routes need one each")
            return
        }
        for route in lane.routes {
            route.channel.connected()
            lane.mark(route)
        }
    }

    func addressFailed(_ role: BrokerLink.Role, error: AMQPError) { lane.log.addressFailed(role, error) }

    func connectionLost(_ role: BrokerLink.Role, error: AMQPError, now: MonotonicTime) {
        lane.log.connectionLost(role, error, level: outage.failed(error.kind, now: now))
        for route in lane.routes {
            route.channel.connectionLost(at: lane.moment)
            lane.mark(route)
        }
    }

    func channelOpened(_ channel: UInt16) { with(channel) { $0.channel.opened(at: lane.moment) } }
    func qosSet(_ channel: UInt16) { with(channel) { $0.channel.prefetchSet() } }
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {
        with(channel) { route in
            guard let outage = route.channel.consumeStarted(at: lane.moment) else { return }
            lane.log.routes.consumesAgain(route, after: outage)
        }
    }

    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        with(channel) { route in
            guard byBroker else { return route.channel.consumeCancelled(consumerTag) }
            guard let cancel = route.channel.cancelledByBroker(consumerTag, at: lane.moment) else { return }
            lane.log.routes.consumerCancelled(cancel)
        }
    }

    func confirmsSelected(_ channel: UInt16) {}

    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        with(channel) { route in
            guard let level = route.channel.closed(code: code, text: text, at: lane.moment) else { return }
            lane.log.routes.channelClosed(of: route, code: code, text: text, level: level)
        }
    }

    func connectionClosed(code: UInt16, text: String) {
        lane.log.connectionClosing(code: code, text: text)
    }

    func connectionBlocked(reason: String) {}
    func connectionUnblocked() {}

    func delivered(_ delivery: consuming Delivery) {
        // Deliveries on a connection that is about to be ended are ignored.
        guard let route = route(delivery.channel), !lane.consumeLink.isDistrusted else { return }
        lane.mark(route)
        if !route.delivered(delivery, at: lane.moment) {
            lane.consumeLink.distrust("the broker delivered a tag out of sequence")
        } else if let overrun = route.overrun {
            lane.consumeLink.distrust(overrun)
        }
    }

    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {}
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {}
}
