import Logging

/// What the log says about a lane's routes: their channels to the broker, and their hosts.
struct RouteLog {
    private let logger: Logger

    /// The log of the lane.
    init(_ logger: Logger) { self.logger = logger }

    /// There is no channel for a new route.
    func lacksChannel(_ route: Route) {
        logger.error(
            "a route cannot begin: the connection to the broker has no channel left, restart the worker",
            metadata: .with([.route: "\(route.name)"]))
    }

    /// The queues of a route are consumed again.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - outage: How long the queues were not consumed.
    func consumesAgain(_ route: Route, after outage: OutageLog.Ended) {
        logger.notice(
            "the route's queues are consumed again",
            metadata: .with([.route: "\(route.name)", .detail: "\(outage.text)"]))
    }

    /// The broker cancelled the consumer of a queue.
    func consumerCancelled(_ cancel: RouteChannel.Cancel) {
        logger.log(
            level: cancel.level, "the broker cancelled a consumer",
            metadata: .with([.queue: "\(cancel.queue)", .detail: "\(cancel.cause)"]))
    }

    /// The broker closed the channel of a route.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - code: The broker's code.
    ///   - text: The broker's words.
    ///   - level: The level, which is lower if the log told of the same failure lately (`OutageLog`).
    func channelClosed(of route: Route, code: UInt16, text: String, level: Logger.Level) {
        var metadata = Logger.Metadata.with([.route: "\(route.name)", .code: "\(code)", .text: "\(text)"])
        metadata[LogKey.detail.rawValue] = Self.remedy(code).map { .string($0) }
        logger.log(level: level, "the broker closed a route's channel", metadata: metadata)
    }

    /// What operators should do about a closed channel; nil where that is not known.
    private static func remedy(_ code: UInt16) -> String? {
        switch code {
        case 403: "the worker's user may not read the queue: see `martlet topology render --users`"
        case 404: "make what is missing with `martlet topology apply`"
        // The other cause is a delivery tag that the broker does not know, which its words name.
        case 406: "where a delivery timed out: it was not acknowledged within the broker's patience (consumer_timeout)"
        default: nil
        }
    }

    /// A host of a route cannot be reached, or can be again.
    func hostChanged(_ news: OutageLog.News, of kind: Destination.Kind, of route: Route) {
        var metadata = Logger.Metadata.with([.route: "\(route.name)"])
        if kind != .devices { metadata[LogKey.host.rawValue] = "\(kind.setting)" }
        switch news {
        case .failed(let reason, let level):
            metadata[LogKey.error.rawValue] = "\(reason)"
            logger.log(
                level: level,
                kind == .devices ? "APNs cannot be reached" : "a host for broadcast channels cannot be reached",
                metadata: metadata)
        case .works(let outage):
            metadata[LogKey.detail.rawValue] = "\(outage.text)"
            logger.notice(
                kind == .devices ? "APNs can be reached again" : "a host for broadcast channels can be reached again",
                metadata: metadata)
        }
    }
}
