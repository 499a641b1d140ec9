import HTTPTypes
import Hummingbird
import NIOCore
import Text

/// The page for people, and the requests of that page. All answers except the page and the events are JSON.
///
/// | request | answer |
/// |---|---|
/// | `GET /` | the page |
/// | `GET /overview` | environment, connections, limits, a count for each kind of answer, how many devices |
/// | `GET /connections` | the newest open connections, at most ``connectionLimit`` |
/// | `GET /requests` | a count for each kind of answer |
/// | `GET /devices` | the devices activated last, with their tokens, at most ``deviceLimit`` |
/// | `GET /devices/<id>/notifications` | the newest notifications of a device, oldest first |
/// | `GET /deliveries?unique_id=…` | the delivery log of one notification |
/// | `GET /events` | server-sent events: `device` and `notification` as they happen |
enum PageRoutes {
    /// How many devices are listed at a time.
    static let deviceLimit = 500
    /// How many connections are listed at a time.
    static let connectionLimit = 500

    /// Allows the page's own script and style, and connections to this server. Nothing else is allowed. So the text of
    /// a payload cannot load or send anything.
    private static let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static let policyName = HTTPField.Name("content-security-policy")
    private static let optionsName = HTTPField.Name("x-content-type-options")

    /// The page: one document, made of the files in `Page`. It loads nothing from other servers.
    ///
    /// The page shows data of providers and devices as text, never as markup.
    private static let html = text(PackageResources.page_html)
        .replacing("/* page.css */", with: text(PackageResources.page_css))
        .replacing("/* page.js */", with: text(PackageResources.page_js))

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
                return missing("which notification? ?unique_id=… takes the value of \(APNSHeader.uniqueID)")
            }
            guard let id = UUIDBytes.parse(String(text)), let entry = service.devices?.delivery(id) else {
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
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

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
