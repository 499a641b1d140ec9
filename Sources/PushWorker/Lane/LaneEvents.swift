internal import APNSClient
internal import EventLoop
internal import Logging
internal import RabbitMQ

// What the lane's connections report, passed on to the route or the publisher it concerns. On the lane's thread.

/// Events of the consume connection: each channel belongs to one route.
final class ConsumeEvents: BrokerLinkDelegate {
    private unowned let lane: Lane

    init(lane: Lane) { self.lane = lane }

    private func route(_ channel: UInt16) -> Route? {
        let position = Int(channel) - 1
        return lane.routes.indices.contains(position) ? lane.routes[position] : nil
    }

    /// Tells a channel's route what happened to it, and lets the turn look at the route.
    private func with(_ channel: UInt16, _ tell: (Route) -> Void) {
        guard let route = route(channel) else { return }
        tell(route)
        lane.mark(route)
    }

    func connectionOpened(_ role: BrokerRole, now: MonotonicTime) {
        lane.logger.info("connected to the broker", metadata: ["lane": "\(lane.settings.index)", "role": "consume"])
        lane.heartbeatNegotiated()
        // A broker may allow fewer channels than were asked for (`channel_max`); a route is one channel.
        if let allowed = lane.consumeLink.session?.channelMax, allowed > 0, allowed < lane.routes.count {
            lane.consumeLink.distrust(
                "the broker allows \(allowed) channels, and \(lane.routes.count) routes need one each")
            return
        }
        for route in lane.routes {
            route.connected()
            lane.mark(route)
        }
    }

    func addressFailed(_ role: BrokerRole, error: AMQPError) { lane.addressFailed(role, error: error) }

    func connectionLost(_ role: BrokerRole, error: AMQPError, now: MonotonicTime) {
        lane.logger.warning("no connection to the broker", metadata: ["role": "consume", "error": "\(error.message)"])
        for route in lane.routes {
            route.connectionLost(at: lane.moment)
            lane.mark(route)
        }
    }

    func channelOpened(_ channel: UInt16) { with(channel) { $0.channelOpened(at: lane.moment) } }
    func qosSet(_ channel: UInt16) { with(channel) { $0.prefetchSet() } }
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {
        with(channel) { $0.consumeStarted(at: lane.moment) }
    }

    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        with(channel) { route in
            let queue = route.consumeCancelled(consumerTag, byBroker: byBroker, at: lane.moment)
            guard byBroker, let queue else { return }
            lane.logger.warning("the broker cancelled a consumer", metadata: ["queue": "\(queue)"])
        }
    }

    func confirmsSelected(_ channel: UInt16) {}

    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        with(channel) { route in
            route.channelClosed(code: code, text: text, at: lane.moment)
            lane.logger.warning(
                "the broker closed a route's channel",
                metadata: ["route": "\(route.name)", "code": "\(code)", "text": "\(text)"])
        }
    }

    func connectionClosed(code: UInt16, text: String) {
        lane.logger.warning("the broker closes the connection", metadata: ["code": "\(code)", "text": "\(text)"])
    }

    func connectionBlocked(reason: String) {}
    func connectionUnblocked() {}

    func delivered(_ delivery: consuming Delivery) {
        // What a connection says that is about to be ended for it counts for nothing.
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

extension Lane {
    /// Says that an address leads to no broker; where none does, that is said of the connection.
    fileprivate func addressFailed(_ role: BrokerRole, error: AMQPError) {
        logger.warning(
            "an address of the broker does not work; the next is tried",
            metadata: ["role": "\(role.rawValue)", "error": "\(error.message)"])
    }
}

/// Events of the publish connection.
final class PublishEvents: BrokerLinkDelegate {
    private unowned let lane: Lane

    init(lane: Lane) { self.lane = lane }

    func connectionOpened(_ role: BrokerRole, now: MonotonicTime) {
        lane.logger.info("connected to the broker", metadata: ["lane": "\(lane.settings.index)", "role": "publish"])
        lane.heartbeatNegotiated()
        if let allowed = lane.publishLink.session?.channelMax, allowed > 0, allowed < Publisher.replyChannel {
            lane.publishLink.distrust("the broker allows \(allowed) channel, and publishing needs two")
            return
        }
        lane.publisher.connectionOpened()
        lane.consumeLink.connectAtOnce(now: now)
    }

    func addressFailed(_ role: BrokerRole, error: AMQPError) { lane.addressFailed(role, error: error) }

    func connectionLost(_ role: BrokerRole, error: AMQPError, now: MonotonicTime) {
        lane.logger.warning("no connection to the broker", metadata: ["role": "publish", "error": "\(error.message)"])
        lane.publisher.connectionLost()
    }

    func channelOpened(_ channel: UInt16) { lane.publisher.channelOpened(channel, now: lane.now) }
    func confirmsSelected(_ channel: UInt16) {
        lane.publisher.confirmsSelected(channel)
        for route in lane.routes { lane.mark(route) }
    }

    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        lane.logger.warning("the broker closed a publish channel", metadata: ["code": "\(code)", "text": "\(text)"])
        lane.publisher.channelClosed(channel, code: code, text: text, now: lane.now)
    }

    func connectionClosed(code: UInt16, text: String) {
        lane.logger.warning("the broker closes the connection", metadata: ["code": "\(code)", "text": "\(text)"])
    }

    func connectionBlocked(reason: String) {
        lane.logger.warning("the broker takes no publications now", metadata: ["reason": "\(reason)"])
    }
    func connectionUnblocked() { lane.logger.info("the broker takes publications again") }

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

/// Events of a destination's connections.
final class DestinationEvents: APNSPoolDelegate {
    private unowned let lane: Lane
    private unowned let route: Route
    private unowned let destination: Destination
    private let connector: APNSConnector
    /// Connects that wait for the pace, by the numbers of their requests: the next one of the pool, and one that proves a
    /// credential.
    private var waiting: [Int: WaitingConnect] = [:]

    /// A connect that waits for the pace.
    private struct WaitingConnect {
        let request: ConnectRequest
        let place: ConnectPlace
        let timer: TimerID
    }

    init(lane: Lane, route: Route, destination: Destination, connector: APNSConnector) {
        self.lane = lane
        self.route = route
        self.destination = destination
        self.connector = connector
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        route.answered(tag, answer, on: destination, at: Moment(monotonic: now, wall: lane.moment.wall))
        lane.mark(route)
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {
        ask(request, connector.enterLine(urgency(of: pool)))
    }

    func poolWaits(_ pool: APNSPool) {
        guard !waiting.isEmpty else { return }
        let urgency = urgency(of: pool)
        for connect in waiting.values where connect.place.raise(to: urgency) {
            lane.loop.cancel(connect.timer)
            ask(connect.request, connect.place)
        }
    }

    /// Connects as soon as the pace allows. It is waited for on the loop: a thread is started, and a name looked up, only
    /// when the connect is due.
    private func ask(_ request: ConnectRequest, _ place: ConnectPlace) {
        waiting[request.id] = nil
        let wait = place.ask(now: lane.now)
        guard wait > .zero else { return connect(request) }
        let timer = lane.loop.schedule(at: lane.now.adding(wait)) { [weak self] _ in self?.askAgain(request.id) }
        waiting[request.id] = WaitingConnect(request: request, place: place, timer: timer)
    }

    private func askAgain(_ id: Int) {
        guard let connect = waiting.removeValue(forKey: id), destination.pool?.awaits(connect.request) == true else {
            return
        }
        ask(connect.request, connect.place)
    }

    /// How much a connection is needed: most where jobs wait and there is none.
    private func urgency(of pool: APNSPool) -> ConnectUrgency {
        guard destination.hasWaiting else { return .idle }
        return pool.streamLimit > 0 ? .growing : .stranded
    }

    private func connect(_ request: ConnectRequest) {
        let position = route.position
        let kind = destination.kind
        HelperThread.run("martlet-apns") { [connector, handle = lane.handle] in
            let result = connector.result(of: request)
            handle.post(.apnsConnected(route: position, kind, request, Transfer(result)))
        } orElse: { [handle = lane.handle] error in
            let failure = APNSClientError(.unreachable, error.message)
            handle.post(.apnsConnected(route: position, kind, request, Transfer(.failure(failure))))
        }
        // A name service that hangs has no time limit of its own; what it says later counts for nothing.
        let end = lane.now.adding(connector.patience(request))
        _ = lane.loop.schedule(at: end) { [weak self] _ in self?.giveUp(request) }
    }

    private func giveUp(_ request: ConnectRequest) {
        guard destination.pool?.awaits(request) == true else { return }
        let patience = connector.patience(request)
        let failure = APNSClientError(
            .timedOut, "looking up \(connector.endpoint) and connecting took longer than \(patience)")
        lane.handle.post(.apnsConnected(route: route.position, destination.kind, request, Transfer(.failure(failure))))
    }

    func pool(_ pool: APNSPool, credential event: CredentialEvent) {
        lane.credentialEvent(event, of: route, on: destination)
    }

    func poolCapacityChanged(_ pool: APNSPool) {
        route.capacityChanged(of: destination, at: lane.moment)
        lane.mark(route)
    }
}
