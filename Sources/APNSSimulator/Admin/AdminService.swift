import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Text

/// The admin API: what was pushed, as JSON, on a loopback port of its own.
///
/// | request | answer |
/// |---|---|
/// | `GET /ledger` | JSON Lines, one push each, in order |
/// | `GET /ledger?token=…` | the same for one device token |
/// | `GET /ledger?format=compact` | `apns-id token status` lines; status 0 = no answer |
/// | `GET /counts` | one JSON object: totals, and a count for each kind of answer |
/// | `POST /reset` | forgets pushes, counts and how far devices are in a scenario |
///
/// ``PageRoutes`` has the page for people and the requests of that page. The requests that change the simulator while
/// it runs are added with ``SimulatorControl``.
struct AdminService: Sendable {
    /// How many pushes are rendered in one step. The ledger accepts new pushes between two steps.
    static let renderStep = 2000

    /// The port the API listens at.
    let port: Int

    private let group: ServiceGroup
    private let task: Task<Void, Never>

    /// Starts the API.
    ///
    /// - Parameters:
    ///   - service: What to tell about.
    ///   - control: What can be changed.
    ///   - port: The port, 0 for any free one.
    ///   - logger: Tells of trouble.
    /// - Returns: The API, listening.
    /// - Throws: ``SimulatorError`` where the port cannot be had.
    static func start(
        service: PushService, control: SimulatorControl, port: Int, logger: Logger
    ) async throws(SimulatorError) -> AdminService {
        let (started, continuation) = AsyncStream<Result<Int, SimulatorError>>.makeStream()
        let application = Application(
            responder: AdminResponder(router(service, control)),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                continuation.yield(.success(channel.localAddress?.port ?? port))
            },
            logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [ServiceGroupConfiguration.ServiceConfiguration(service: application)],
                logger: logger))
        let task = Task {
            do {
                try await group.run()
            } catch {
                continuation.yield(
                    .failure(SimulatorError(.network, "the admin API cannot listen at 127.0.0.1:\(port): \(error)")))
            }
            continuation.finish()
        }
        for await result in started {
            return AdminService(port: try result.get(), group: group, task: task)
        }
        throw SimulatorError(.network, "the admin API ended before it began")
    }

    /// Stops the API and waits for its end.
    func stop() async {
        await group.triggerGracefulShutdown()
        await task.value
    }

    private static func router(_ service: PushService, _ control: SimulatorControl) -> Router<BasicRequestContext> {
        let router = Router()
        addControls(control, to: router)
        router.get("/ledger") { request, _ in
            let parameters = request.uri.queryParameters
            return ledger(
                service.ledger, token: parameters["token"].map { Array($0.utf8) },
                isCompact: parameters["format"] == "compact")
        }
        router.get("/counts") { _, _ in json(counts(service)) }
        router.post("/reset") { _, _ in
            service.reset()
            return json(Array("{\"reset\":true}\n".utf8))
        }
        PageRoutes.add(to: router, service)
        return router
    }

    private static func ledger(_ ledger: Ledger, token: [UInt8]?, isCompact: Bool) -> Response {
        let type = isCompact ? "text/plain; charset=utf-8" : "application/jsonl; charset=utf-8"
        let body = ResponseBody { writer in
            var next: Int? = 0
            while let start = next {
                var bytes: [UInt8] = []
                next = ledger.render(from: start, limit: renderStep, token: token, isCompact: isCompact, into: &bytes)
                if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: type], body: body)
    }

    /// Makes an answer of JSON text.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - status: The status.
    /// - Returns: The answer.
    static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func counts(_ service: PushService) -> [UInt8] {
        let counters = service.counters
        var text: [UInt8] = []
        text.append(contentsOf: "{\"total\":\(service.ledger.total + counters.acceptedWithoutLooking)".utf8)
        text.append(contentsOf: ",\"unlisted\":\(service.ledger.unlisted)".utf8)
        text.append(contentsOf: ",\"accepted_without_looking\":\(counters.acceptedWithoutLooking)".utf8)
        text.append(contentsOf: ",\"connections\":{\"open\":\(counters.connectionsOpen)".utf8)
        text.append(contentsOf: ",\"accepted\":\(counters.connectionsAccepted)},\"answers\":[".utf8)
        for (index, count) in service.ledger.counts.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: "{\"status\":\(count.status),\"reason\":".utf8)
            if count.label.isEmpty {
                text.append(contentsOf: "null".utf8)
            } else {
                text.append(UInt8(ascii: "\""))
                JSONEscaping.append(count.label.utf8, to: &text)
                text.append(UInt8(ascii: "\""))
            }
            text.append(contentsOf: ",\"count\":\(count.count)}".utf8)
        }
        text.append(contentsOf: "]}\n".utf8)
        return text
    }
}
