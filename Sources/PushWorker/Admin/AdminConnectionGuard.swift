import NIOCore
import NIOHTTPTypes

/// Holds one connection to the server's limits: the time for a request and its answer, and the size of a body.
final class AdminConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// The most bytes of a request's body. No answer needs a body, so a connection with a longer one is closed.
    static let bodyLimit = 4096

    private let connections: AdminConnections
    private let limit: TimeAmount
    private var deadline: Scheduled<Void>?
    private var bodyBytes = 0

    /// Guards one connection.
    ///
    /// - Parameters:
    ///   - connections: All connections of the server.
    ///   - limit: How long a connection may take for its next request and the answer.
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
            // Answers do not wait for a body. The end of a body may therefore come after the answer, and begins
            // nothing.
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
