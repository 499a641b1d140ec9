import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Text
package import WorkerSettings

/// The admin server: `/livez`, `/readyz` and `/metrics`, read-only.
///
/// Answers come from snapshots, never from a lane. ``AdminGate`` decides which requests are answered.
/// ``AdminConnectionGuard`` limits the time and the bytes of a connection.
package struct AdminServer: Service {
    /// The most open connections: a scraper, a few probes and a few people.
    static let connectionLimit = 64
    /// The most bytes of one header field, the most bytes of all header fields, and the most header fields.
    static let headerLimits = (field: 8192, list: 16384, count: 64)
    /// How long the server waits before it listens again after it stopped by itself: the first wait, and the longest.
    /// Each wait is twice the one before.
    static let restartWaits = (first: Duration.seconds(1), longest: Duration.seconds(30))

    private let listen: ListenAddress
    private let source: any AdminSource
    private let metrics: WorkerMetrics
    private let patience: Duration
    private let gate: AdminGate
    private let requestLimit: Duration
    private let logger: Logger
    private let started: @Sendable (Int) -> Void

    /// Prepares the server; it listens once it runs.
    ///
    /// - Parameters:
    ///   - listen: Where to listen.
    ///   - source: What to show.
    ///   - metrics: What `/metrics` writes.
    ///   - heartbeat: The broker's heartbeat. A lane that has not moved for three heartbeats, and for 30 s at least, is
    ///     stuck.
    ///   - tokenFile: The file whose first line is the bearer token; nil for none.
    ///   - requestLimit: How long a connection may take for its next request and the answer.
    ///   - logger: For what the server itself has to say.
    ///   - started: Called with the port once the server listens, and again where it had to listen again.
    package init(
        listen: ListenAddress, source: any AdminSource, metrics: WorkerMetrics, heartbeat: Duration,
        tokenFile: String? = nil, requestLimit: Duration = .seconds(30), logger: Logger,
        started: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.listen = listen
        self.source = source
        self.metrics = metrics
        patience = LaneProgress.patience(heartbeat: heartbeat)
        gate = AdminGate(isLoopback: listen.isLoopback, tokenFile: tokenFile)
        self.requestLimit = requestLimit
        self.logger = logger
        self.started = started
    }

    /// Serves until the service group shuts down.
    ///
    /// A server that has listened once does not give up. If it stops because the process has no descriptor left, it
    /// listens again, because pushes go on meanwhile.
    ///
    /// - Throws: `WorkerError` if the server cannot listen on the address at the start.
    package func run() async throws {
        let hasListened = Atomic<Bool>(false)
        var wait = Self.restartWaits.first
        while true {
            do {
                try await serve { port in
                    hasListened.store(true, ordering: .releasing)
                    started(port)
                }
            } catch {
                guard hasListened.load(ordering: .acquiring) else { throw cannotListen(error) }
                logger.error("the admin server cannot listen", metadata: .with([.error: "\(Self.reason(error))"]))
            }
            if Task.isShuttingDownGracefully || Task.isCancelled { return }
            logger.error("the admin server has stopped, and listens again", metadata: .with([.dueIn: "\(wait)"]))
            let pause = wait
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
            if Task.isShuttingDownGracefully || Task.isCancelled { return }
            wait = min(wait * 2, Self.restartWaits.longest)
        }
    }

    private func cannotListen(_ error: any Error) -> WorkerError {
        WorkerError(
            message: "admin.listen: cannot listen on \(listen): \(Self.reason(error)): give each worker of a machine "
                + "an address of its own, such as 127.0.0.1:0 for any free port, or null for no admin server")
    }

    /// An error in words: those of the operating system, if the error has a number of it.
    private static func reason(_ error: any Error) -> String {
        guard let number = (error as? IOError)?.errnoCode, let text = strerror(number) else { return "\(error)" }
        return String(cString: text)
    }

    /// Listens and answers until the service group shuts down, or the server cannot go on.
    private func serve(_ started: @escaping @Sendable (Int) -> Void) async throws {
        let connections = AdminConnections(limit: Self.connectionLimit)
        let limit = TimeAmount.milliseconds(requestLimit.wholeMilliseconds)
        let application = Application(
            router: router(),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [AdminConnectionGuard(connections, limit: limit)],
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headerLimits.field, maxHeaderListSize: Self.headerLimits.list,
                        maxHeaderFieldCount: Self.headerLimits.count))),
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port), serverName: nil, backlog: Self.connectionLimit),
            onServerRunning: { channel in started(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.run()
    }

    private func router() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        let (source, metrics, patience, gate) = (source, metrics, patience, gate)
        router.add(middleware: AdminGuard(gate: gate))
        router.get("livez") { request, _ in
            Self.liveness(source.progress(), patience: patience, isBrief: gate.admission(of: request) == .brief)
        }
        router.get("readyz") { request, _ in
            let readiness = source.readiness()
            return gate.admission(of: request) == .brief
                ? Self.response(
                    readiness.isReady ? .ok : .serviceUnavailable, "application/json",
                    Array("{\"ready\":\(readiness.isReady)}\n".utf8))
                : try Self.readiness(readiness)
        }
        router.get("metrics") { _, _ in
            let text = metrics.text(
                source.snapshot(), routes: source.routeNames(), credentials: source.credentialStatuses(),
                droppedLogLines: source.droppedLogLines(), fleet: source.fleetStatus(),
                control: source.controlStatus(), spans: source.spanCounts(), endedByBroker: source.endedByBroker())
            return Self.response(.ok, MetricsText.contentType, text)
        }
        return router
    }

    /// Whether the lane moves. Nothing else counts, because a restart repairs neither a broker nor APNs.
    ///
    /// - Parameters:
    ///   - progress: What the lane says of itself; nil once it has ended drained.
    ///   - patience: How long the lane may take for one turn.
    ///   - isBrief: Whether to leave out where it is stuck.
    static func liveness(_ progress: LaneProgress?, patience: Duration, isBrief: Bool) -> Response {
        guard let progress, !progress.isMoving(within: patience) else {
            return response(.ok, "text/plain; charset=utf-8", Array("ok\n".utf8))
        }
        let time = DurationText.write(.seconds(progress.sinceLastTurn.components.seconds))
        let text =
            isBrief ? "stuck\n" : "lane 0 has not moved for \(time)\(progress.step.map { ": \($0)" } ?? "")\n"
        return response(.serviceUnavailable, "text/plain; charset=utf-8", Array(text.utf8))
    }

    /// Whether the worker does its work, with the reasons as JSON.
    static func readiness(_ readiness: WorkerReadiness) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(readiness)
        return response(readiness.isReady ? .ok : .serviceUnavailable, "application/json", Array(body) + [0x0a])
    }

    /// An answer that no cache keeps.
    static func response(_ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8]) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

/// Refuses the requests that ``AdminGate`` does not let in, on every path.
private struct AdminGuard: RouterMiddleware {
    let gate: AdminGate

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        switch gate.admission(of: request) {
        case .open, .brief: return try await next(request, context)
        case .unauthorized:
            var response = AdminServer.response(
                .unauthorized, "text/plain; charset=utf-8", Array("needs the token of admin.token_file\n".utf8))
            response.headers[.wwwAuthenticate] = "Bearer"
            return response
        case .forbidden:
            return AdminServer.response(
                .forbidden, "text/plain; charset=utf-8",
                Array("needs a token, and admin.token_file is not set\n".utf8))
        case .misdirected:
            return AdminServer.response(
                .misdirectedRequest, "text/plain; charset=utf-8",
                Array("a server of this machine alone: ask for localhost or an IP address\n".utf8))
        }
    }
}

extension AdminGate {
    /// Judges a request.
    fileprivate func admission(of request: Request) -> Admission {
        admission(
            isReading: request.method == .get || request.method == .head, path: request.uri.path,
            host: request.head.authority, authorization: request.headers[.authorization])
    }
}
