internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The page for people, and what it asks for. All answers but the page and the events are JSON.
///
/// | request | answer |
/// |---|---|
/// | `GET /` | the page |
/// | `GET /overview` | environment, connections, limits, how often what was answered, how many devices |
/// | `GET /connections` | the connections that are open, at most ``connectionLimit``, the newest |
/// | `GET /requests` | how often what was answered |
/// | `GET /devices` | the devices with their tokens, at most ``deviceLimit`` |
/// | `GET /devices/<id>/notifications` | the newest notifications of a device, oldest first |
/// | `GET /deliveries?unique_id=…` | the delivery log of one notification |
/// | `GET /events` | server-sent events: `device` and `notification` as they happen |
enum PageRoutes {
    /// How many devices are listed at a time.
    static let deviceLimit = 500
    /// How many connections are listed at a time.
    static let connectionLimit = 500

    /// No script or style but the page's own, and no address but this one's: what a payload says cannot reach out.
    private static let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static let policyName = HTTPField.Name("content-security-policy")
    private static let optionsName = HTTPField.Name("x-content-type-options")

    /// Adds the routes.
    ///
    /// - Parameters:
    ///   - router: The admin API's router.
    ///   - service: What to tell about.
    static func add(to router: Router<BasicRequestContext>, _ service: PushService) {
        router.get("/") { _, _ in page() }
        router.get("/overview") { _, _ in json(OverviewView(service)) }
        router.get("/connections") { _, _ in json(service.connections.views(limit: connectionLimit)) }
        router.get("/requests") { _, _ in json(OverviewView.answers(service)) }
        router.get("/devices") { _, _ in json(service.devices?.views(limit: deviceLimit) ?? []) }
        router.get("/devices/{id}/notifications") { _, context in
            guard let id = context.parameters.get("id").flatMap({ DeviceID($0) }),
                let notifications = service.devices?.notifications(of: id)
            else { return missing("no such device") }
            return json(notifications)
        }
        router.get("/deliveries") { request, _ in
            guard let text = request.uri.queryParameters["unique_id"] else {
                return missing("which notification? ?unique_id=… takes the value of apns-unique-id")
            }
            guard let id = MessageID(parsing: Array(text.utf8)), let entry = service.devices?.delivery(id) else {
                return missing("the delivery log has no such notification; it knows tokens issued to devices only")
            }
            return json(entry)
        }
        router.get("/events") { _, _ in
            guard let events = service.devices?.events.listen() else { return missing("nothing to listen to") }
            return stream(events)
        }
    }

    private static func page() -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
        if let policyName { headers[policyName] = policy }
        if let optionsName { headers[optionsName] = "nosniff" }
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: PageText.html)))
    }

    private static func stream(_ events: AsyncStream<[UInt8]>) -> Response {
        let body = ResponseBody { writer in
            // The first bytes open the stream on the listener's side.
            try await writer.write(ByteBuffer(string: ": welcome\n\n"))
            for await event in events { try await writer.write(ByteBuffer(bytes: event)) }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    private static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        var bytes = AdminJSON.bytes(of: value)
        bytes.append(UInt8(ascii: "\n"))
        return Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func missing(_ message: String) -> Response { json(["error": message], status: .notFound) }
}

/// What the page shows at its top.
struct OverviewView: Encodable {
    /// The connections of the gateway and of channel management.
    struct Connections: Encodable {
        /// How many are open.
        var open: Int
        /// How many there were since the start.
        var accepted: Int
    }

    /// How often something was answered.
    struct Answer: Encodable {
        /// The status; 0 where there was no answer.
        var status: Int
        /// The reason, or what happened instead; empty for success.
        var reason: String
        /// How often.
        var count: Int
    }

    /// What devices there are.
    struct Devices: Encodable {
        /// How many were activated.
        var activated: Int
        /// How many are connected.
        var online: Int
        /// The port they connect to; 0 without one.
        var port: Int
    }

    /// `development` or `production`.
    var environment: String
    /// The connections.
    var connections: Connections
    /// The concurrent streams announced, before and after the first good push.
    var streams: [UInt32]
    /// How many requests there were.
    var requests: Int
    /// How often what was answered.
    var answers: [Answer]
    /// The devices; nil where the simulator has none.
    var devices: Devices?
    /// What cannot be written at present, so that pushes are answered 500; nil where everything can be.
    var storageTrouble: String?

    /// Describes a simulator.
    ///
    /// - Parameter service: What its connections share.
    init(_ service: PushService) {
        let counters = service.counters
        environment = service.configuration.environment.rawValue
        connections = Connections(open: counters.connectionsOpen, accepted: counters.connectionsAccepted)
        streams = [service.configuration.streams.initial, service.configuration.streams.full]
        requests = service.ledger.total + counters.acceptedWithoutLooking
        answers = Self.answers(service)
        devices = service.devices?.summary
        storageTrouble = service.health.trouble
    }

    /// How often what was answered.
    ///
    /// - Parameter service: What all connections share.
    /// - Returns: The counts, in the order of first occurrence.
    static func answers(_ service: PushService) -> [Answer] {
        var answers = service.ledger.counts.map { Answer(status: $0.status, reason: $0.label, count: $0.count) }
        let unseen = service.counters.acceptedWithoutLooking
        if unseen > 0 { answers.append(Answer(status: 200, reason: "", count: unseen)) }
        return answers
    }
}
