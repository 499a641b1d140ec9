import EventLoop
import HTTPTypes
import Hummingbird

/// Hands requests to the admin API's router. Answers requests that have no route with an error in JSON.
struct AdminResponder: HTTPResponder {
    /// What is known of a request.
    typealias Context = BasicRequestContext

    private let inner: RouterResponder<Context>
    private let routes: [(path: [Substring], method: HTTPRequest.Method)]
    private let known: String

    /// Takes the routes of a finished router.
    ///
    /// - Parameter router: The router.
    init(_ router: Router<Context>) {
        inner = router.buildResponder()
        routes = router.routes.map { ($0.path.description.split(separator: "/"), $0.method) }
        known = router.routes.map { "\($0.method.rawValue) \($0.path)" }.sorted().joined(separator: ", ")
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: What is known of it.
    /// - Returns: The answer; 404 and 405 have a body that says what can be asked.
    /// - Throws: What a route throws.
    func respond(to request: Request, context: Context) async throws -> Response {
        if let refusal = Self.refusal(of: request) { return refusal }
        let path = request.uri.path
        let asked = path.split(separator: "/")
        let methods = routes.filter { Self.matches($0.path, asked) }.map(\.method.rawValue).sorted()
        if methods.isEmpty {
            return AdminService.trouble("the admin API has no \(path); it has \(known)", status: .notFound)
        }
        guard methods.contains(request.method.rawValue) else {
            let allowed = methods.joined(separator: ", ")
            var response = AdminService.trouble(
                "\(path) takes \(allowed), and not \(request.method.rawValue)", status: .methodNotAllowed)
            response.headers[.allow] = allowed
            return response
        }
        return try await inner.respond(to: request, context: context)
    }

    /// The answer to a request of a page of another site; nil for any other request.
    private static func refusal(of request: Request) -> Response? {
        let host = request.head.authority ?? ""
        guard RequestHost(host) != .foreign else {
            return AdminService.trouble(
                "the admin API answers requests to localhost or an IP address only, and this one is to another host",
                status: .misdirectedRequest)
        }
        guard RequestHost.isOwn(origin: request.headers[.origin], of: host) else {
            return AdminService.trouble(
                "the admin API does nothing for pages of other sites, and this request has another Origin",
                status: .forbidden)
        }
        return nil
    }

    /// Whether a path is one of a route, whose parameters are written `:name` or `{name}`.
    private static func matches(_ route: [Substring], _ path: [Substring]) -> Bool {
        route.count == path.count
            && zip(route, path).allSatisfy { $0 == $1 || $0.hasPrefix(":") || $0.hasPrefix("{") }
    }
}
