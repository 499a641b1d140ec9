internal import FoundationEssentials
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import PushModel
internal import ServiceLifecycle

/// The admin server: `/livez`, `/readyz` and `/metrics`, read-only.
///
/// Answers come from snapshots, never from a lane. Connections beyond ``connectionLimit`` wait; nothing reads a
/// request's body.
package struct AdminServer: Service {
    /// The most open connections: a scraper, a few probes and a few people.
    static let connectionLimit = 64

    private let listen: ListenAddress
    private let source: any AdminSource
    private let metrics: WorkerMetrics
    private let patience: Duration
    private let logger: Logger
    private let started: @Sendable (Int) -> Void

    /// Prepares the server; it listens once it runs.
    ///
    /// - Parameters:
    ///   - listen: Where to listen.
    ///   - source: What to show.
    ///   - metrics: What `/metrics` writes.
    ///   - heartbeat: The broker's heartbeat; a lane that has not moved for three of them, and for 30 seconds at
    ///     least, is stuck.
    ///   - logger: For what the server itself has to say.
    ///   - started: Called with the port once the server listens.
    package init(
        listen: ListenAddress, source: any AdminSource, metrics: WorkerMetrics, heartbeat: Duration, logger: Logger,
        started: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.listen = listen
        self.source = source
        self.metrics = metrics
        patience = max(heartbeat * 3, .seconds(30))
        self.logger = logger
        self.started = started
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: When the address cannot be listened on.
    package func run() async throws {
        let started = started
        let application = Application(
            router: router(),
            server: .http1(
                configuration: .init(
                    idleTimeout: .seconds(30),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8192, maxHeaderListSize: 16384, maxHeaderFieldCount: 64))),
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port), serverName: nil, backlog: Self.connectionLimit,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)),
            onServerRunning: { channel in started(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.run()
    }

    private func router() -> Router<BasicRequestContext> {
        let router = Router()
        let (source, metrics, patience) = (source, metrics, patience)
        router.get("livez") { _, _ in Self.liveness(source.progress(), patience: patience) }
        router.get("readyz") { _, _ in try Self.readiness(source.readiness()) }
        router.get("metrics") { _, _ in
            let text = metrics.text(
                source.laneSnapshots(), credentials: source.credentialStatuses(),
                droppedLogLines: source.droppedLogLines())
            return Self.response(.ok, MetricsText.contentType, text)
        }
        return router
    }

    /// Whether every lane moves: nothing else, since a restart mends neither a broker nor APNs.
    static func liveness(_ progress: [LaneProgress], patience: Duration) -> Response {
        let stuck = progress.filter { $0.isStuck || $0.sinceLastTurn > patience }
        guard !stuck.isEmpty else { return response(.ok, "text/plain; charset=utf-8", Array("ok\n".utf8)) }
        let lines = stuck.map { lane in
            let time = DurationText.write(.seconds(lane.sinceLastTurn.components.seconds))
            return "lane \(lane.lane) has not moved for \(time)\(lane.step.map { ": \($0)" } ?? "")\n"
        }
        return response(.serviceUnavailable, "text/plain; charset=utf-8", Array(lines.joined().utf8))
    }

    /// Whether the worker does its work, with the reasons as JSON.
    static func readiness(_ readiness: WorkerReadiness) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(readiness)
        return response(readiness.isReady ? .ok : .serviceUnavailable, "application/json", Array(body) + [0x0a])
    }

    private static func response(_ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8]) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
