internal import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// The open connections of the admin server, in the order in which they have to make room.
struct ConnectionRoster<ID: Hashable> {
    /// The most connections: a scraper, a few probes and a few people.
    let limit: Int
    /// The connections that wait for a request, the one that waits longest first, and those whose answer is on its way.
    private(set) var waiting: [ID] = []
    private(set) var answering: [ID] = []

    /// Makes an empty roster.
    init(limit: Int) { self.limit = limit }

    /// Adds a connection.
    ///
    /// - Returns: The one that has to go: the one that has been waiting longest, else the oldest being answered.
    mutating func add(_ id: ID) -> ID? {
        var leaving: ID?
        if waiting.count + answering.count >= limit {
            leaving = waiting.isEmpty ? answering.removeFirst() : waiting.removeFirst()
        }
        waiting.append(id)
        return leaving
    }

    /// Notes that a connection's request is there.
    mutating func requestArrived(_ id: ID) {
        guard let index = waiting.firstIndex(of: id) else { return }
        answering.append(waiting.remove(at: index))
    }

    /// Notes that a connection's answer is written; it waits again, behind all others.
    mutating func answered(_ id: ID) {
        guard let index = answering.firstIndex(of: id) else { return }
        waiting.append(answering.remove(at: index))
    }

    /// Forgets a connection.
    mutating func remove(_ id: ID) {
        waiting.removeAll { $0 == id }
        answering.removeAll { $0 == id }
    }
}

/// The roster that all connections of one server share.
///
/// Thousands of connections that say nothing cannot keep a probe out: each new one takes the place of the one that has
/// been silent longest.
final class AdminConnections: Sendable {
    private struct State {
        var roster: ConnectionRoster<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    /// Makes an empty roster.
    init(limit: Int) {
        state = Mutex(State(roster: ConnectionRoster(limit: limit)))
    }

    /// Takes a connection in, at the expense of another where there are too many.
    func add(_ channel: any Channel) {
        let leaving = state.withLock { state -> (any Channel)? in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.roster.add(ObjectIdentifier(channel)).flatMap { state.channels.removeValue(forKey: $0) }
        }
        leaving?.close(promise: nil)
    }

    /// Notes that a connection's request is there.
    func requestArrived(_ channel: any Channel) {
        state.withLock { $0.roster.requestArrived(ObjectIdentifier(channel)) }
    }

    /// Notes that a connection's answer is written.
    func answered(_ channel: any Channel) {
        state.withLock { $0.roster.answered(ObjectIdentifier(channel)) }
    }

    /// Forgets a connection.
    func remove(_ channel: any Channel) {
        state.withLock {
            $0.channels[ObjectIdentifier(channel)] = nil
            $0.roster.remove(ObjectIdentifier(channel))
        }
    }
}

/// Holds one connection to the server's limits: the time for a request with its answer, and the size of a body.
final class AdminConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// Bytes of a request's body; nothing reads one, so this is only how much politeness may cost.
    static let bodyLimit = 4096

    private let connections: AdminConnections
    private let limit: TimeAmount
    private var deadline: Scheduled<Void>?
    private var bodyBytes = 0

    /// Guards one connection.
    ///
    /// - Parameters:
    ///   - connections: All connections of the server.
    ///   - limit: How long the next answer may take to be asked for and given.
    init(_ connections: AdminConnections, limit: TimeAmount) {
        self.connections = connections
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            // Answers do not wait for a body, so its end may come after the answer and begins nothing.
            bodyBytes = 0
            connections.requestArrived(context.channel)
        case .body(let bytes): bodyBytes += bytes.readableBytes
        case .end: break
        }
        guard bodyBytes <= Self.bodyLimit else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            connections.answered(context.channel)
            startClock(context)
        }
        context.write(data, promise: promise)
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard deadline == nil else { return }
        connections.add(context.channel)
        startClock(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        connections.remove(context.channel)
    }

    private func startClock(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }
}
