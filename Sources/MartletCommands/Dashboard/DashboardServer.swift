import EventLoop
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushModel
import ServiceLifecycle
import WorkerSettings

/// Serves the page and the facts that it shows, on an address of this machine.
///
/// | request | answer |
/// |---|---|
/// | `GET /` | the page |
/// | `GET /status.json` | the newest status; with the status code 503 an `error`, and perhaps a `remedy` |
struct DashboardServer: Sendable {
    /// Where it listens.
    let address: ListenAddress

    private let group: ServiceGroup
    private let task: Task<Void, Never>

    /// Allows the page's own script and style, and questions to this server, and nothing else. So a name or reason that
    /// somebody chose cannot load or send anything.
    private static let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The page: one document, made of the files in `Page`. It loads nothing from other servers.
    private static let html = text(PackageResources.page_html)
        .replacing("/* page.css */", with: text(PackageResources.page_css))
        .replacing("/* page.js */", with: text(PackageResources.page_js))

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - feed: What the page shows.
    ///   - address: Where to listen; port 0 for any free one.
    /// - Returns: The server, listening.
    /// - Throws: `unreachable` where the address cannot be had.
    static func start(
        _ feed: DashboardFeed, at address: ListenAddress
    ) async throws(CommandFailure) -> DashboardServer {
        let (started, continuation) = AsyncStream<Result<Int, CommandFailure>>.makeStream()
        // Standard error is the terminal's. What the server would say there is said by the command.
        let logger = Logger(label: "martlet.dashboard") { _ in SwiftLogNoOpLogHandler() }
        let router = Router()
        router.add(middleware: LocalNames())
        router.get("/") { _, _ in page() }
        router.get("/status.json") { _, _ in
            let answer = await feed.answer()
            return response(
                answer.body, type: "application/json; charset=utf-8",
                status: answer.isStatus ? .ok : .serviceUnavailable)
        }
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { channel in
                continuation.yield(.success(channel.localAddress?.port ?? address.port))
            },
            logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [ServiceGroupConfiguration.ServiceConfiguration(service: application)], logger: logger))
        let task = Task {
            do {
                try await group.run()
            } catch {
                continuation.yield(
                    .failure(
                        CommandFailure(
                            .unreachable, "cannot listen at \(address): \(error)",
                            remedy: "Choose another port with --listen, or 0 for any free one.")))
            }
            continuation.finish()
        }
        for await result in started {
            let port = try result.get()
            return DashboardServer(
                address: ListenAddress(host: address.host, port: port), group: group, task: task)
        }
        throw CommandFailure(.unreachable, "the server at \(address) ended before it began")
    }

    /// Stops the server and waits for its end.
    func stop() async {
        await group.triggerGracefulShutdown()
        await task.value
    }

    private static func page() -> Response {
        var response = response(Array(html.utf8), type: "text/html; charset=utf-8")
        if let name = HTTPField.Name("content-security-policy") { response.headers[name] = policy }
        return response
    }

    private static func response(_ body: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        if let name = HTTPField.Name("x-content-type-options") { headers[name] = "nosniff" }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Answers only requests to a name of this machine. Otherwise a page of another site, whose name leads to this
    /// machine, could read the answers (DNS rebinding).
    private struct LocalNames: RouterMiddleware {
        typealias Context = BasicRequestContext

        func handle(
            _ request: Request, context: Context, next: (Request, Context) async throws -> Response
        ) async throws -> Response {
            guard RequestHost(request.head.authority ?? "") == .thisMachine else {
                return Response(status: .misdirectedRequest)
            }
            return try await next(request, context)
        }
    }
}
