import Foundation
import FoundationNetworking
import PushModel
import Text
import WebClient

/// Requests to one management API, with its login.
struct ManagementConnection: Sendable {
    /// The methods in use.
    enum Method: String {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The longest answer that is read, in bytes. Lists of queues, with all their facts, are the longest answers.
    static let longestAnswer = 256 << 20
    /// How many times the longest silence a whole answer may take.
    static let patience = 4.0

    /// The place of the API, without user and password; for messages.
    let place: String
    /// The place in parts, with the user.
    let location: ManagementPlace
    /// How to write the address.
    private let form: String
    private let authorization: String
    private let session: WebSession

    /// Prepares requests; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - address: `http(s)://user:password@host:port`, user and password percent-encoded.
    ///   - timeout: How long a request may take, in seconds.
    init(address: String, timeout: Double) throws(ManagementError) {
        let parts: AddressText
        do {
            parts = try AddressText(address)
        } catch {
            throw ManagementError(code: .unreachable, message: "the management address is wrong: \(error.message)")
        }
        let port = parts.port ?? (parts.scheme == "https" ? 443 : 80)
        let prefix = parts.rest.hasSuffix("/") ? String(parts.rest.dropLast()) : parts.rest
        place = "\(parts.scheme)://\(parts.bracketedHost):\(port)\(prefix)"
        form = "\(parts.scheme)://USER:PASSWORD@\(parts.bracketedHost):\(port)\(prefix)"
        guard let userInfo = parts.userInfo, !userInfo.hasPrefix(":") else {
            throw ManagementError(
                code: .refused, message: "the management address \(place) names no user: write \(form)")
        }
        let login = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
            String($0).removingPercentEncoding ?? String($0)
        }
        guard login.count == 2 else {
            throw ManagementError(
                code: .refused,
                message: "the management address \(place) has no password of \(login[0]): write \(form). Only the "
                    + "user who logs in to the broker needs none here, and only over https")
        }
        location = ManagementPlace(
            host: parts.host, port: port, isEncrypted: parts.scheme == "https", prefix: prefix, user: login[0])
        authorization = "Basic " + Base64.standard.text(Array(login.joined(separator: ":").utf8))
        session = WebSession(timeout: timeout, limit: Self.patience * timeout, longestBody: Self.longestAnswer)
    }

    /// Sends one request and gives the answer's body.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The segments after `/api`, not yet percent-encoded.
    ///   - body: A JSON text.
    /// - Returns: The body of a successful answer.
    /// - Throws: An error in words for an operator.
    func send(_ method: Method, _ path: [String], body: String? = nil) async throws(ManagementError) -> Data {
        let encoded = path.map(PercentText.encode).joined(separator: "/")
        guard let url = URL(string: "\(place)/api/\(encoded)") else {
            throw ManagementError(code: .unreachable, message: "the management address \(place) is not an address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method.rawValue
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body.utf8)
        }
        let answer: (body: Data, head: HTTPURLResponse)
        do throws(WebSession.Failure) {
            answer = try await session.answer(to: request)
        } catch {
            throw failure(error, method, encoded)
        }
        guard (200...299).contains(answer.head.statusCode) else {
            let target = answer.head.value(forHTTPHeaderField: "Location")
            throw failure(answer.head.statusCode, answer.body, target, method, encoded)
        }
        return answer.body
    }

    /// Asks for the part of the address that is most often forgotten.
    var prefixQuestion: String {
        "is there a path prefix (management.path_prefix, or a proxy's)? Then write it behind the port: \(form)/PREFIX"
    }

    /// The error for an answer about something else than what was asked.
    ///
    /// - Parameters:
    ///   - kind: What was asked for.
    ///   - what: What was wrong with the answer.
    func misdirected(_ kind: String, _ what: String) -> ManagementError {
        ManagementError(
            code: .unexpectedAnswer,
            message: "GET /api/\(kind) at \(place) \(what): a proxy on the way decodes %2F in paths, or joins slashes. "
                + "Let it pass paths on as they come (nginx: proxy_pass without a path behind the address; Apache: "
                + "AllowEncodedSlashes NoDecode and nocanon)")
    }

    private func failure(_ failure: WebSession.Failure, _ method: Method, _ path: String) -> ManagementError {
        switch failure.kind {
        case .loginRefused:
            ManagementError(
                code: .refused,
                message: "the management API at \(place) refused the login of \(location.user): check user and "
                    + "password, and that the user has the tag management, or policymaker to change policies")
        case .tooLong:
            ManagementError(
                code: .unexpectedAnswer,
                message: "the answer to \(method.rawValue) /api/\(path) at \(place) cannot be read: "
                    + "\(failure.reason); check that this is the address of RabbitMQ's management API")
        case .unverified:
            ManagementError(
                code: .untrusted,
                message: "the management API at \(place) cannot be trusted: \(failure.reason). This system must know "
                    + "its authority (update-ca-certificates), and the certificate must name \(location.host)")
        case .unanswered:
            ManagementError(
                code: .unreachable,
                message: "the management API at \(place) cannot be reached: \(failure.reason) "
                    + "(is the plugin on? rabbitmq-plugins enable rabbitmq_management)")
        }
    }

    /// The error for an answer that is no success.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - data: Its body.
    ///   - target: Its `Location`.
    ///   - method: The request's method.
    ///   - path: What follows `/api/` in the request.
    func failure(
        _ status: Int, _ data: Data, _ target: String?, _ method: Method, _ path: String
    ) -> ManagementError {
        /// What RabbitMQ answers when it refuses something.
        struct Refusal: Decodable {
            let error: String
            let reason: String?
        }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: data)
        let request = "\(method.rawValue) /api/\(path)"
        let answer = "\(request) at \(place) was answered \(status)"
        switch status {
        case 300...399:
            return ManagementError(
                code: .unexpectedAnswer,
                message: "\(answer)\(target.map { redirection($0, path) } ?? ", a redirection without a target")")
        case 401, 403:
            let needs =
                method == .get
                ? "tag management and permissions on the virtual host"
                : "tag policymaker and configure, write and read permissions on ^apns\\."
            return ManagementError(
                code: .refused,
                message: "the management API at \(place) refused \(request) (\(status), "
                    + "\(refusal?.reason ?? "no reason given")): the user needs the \(needs)")
        case 404 where refusal == nil:
            return ManagementError(
                code: .unexpectedAnswer, message: "\(answer), and not by RabbitMQ's management API: \(prefixQuestion)")
        case 404 where method == .get:
            return ManagementError(
                code: .missingVirtualHost,
                message: "\(request) found nothing at \(place): does the virtual host exist? "
                    + "rabbitmqctl add_vhost makes it")
        default:
            return ManagementError(
                code: .unexpectedAnswer, message: "\(answer): \(refusal?.reason ?? "no reason given")")
        }
    }

    /// Where an answer points, and what to write. Nothing follows it, because nobody configured the other server.
    private func redirection(_ target: String, _ path: String) -> String {
        guard let url = URL(string: target, relativeTo: URL(string: "\(place)/api/\(path)")),
            var parts = URLComponents(url: url.absoluteURL, resolvingAgainstBaseURL: false)
        else { return ", which points to something that is not an address" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        let words = ", which points to \(parts.string ?? "something that is not an address")"
        guard parts.percentEncodedPath.hasSuffix("/api/\(path)"), let host = parts.host else {
            return "\(words). Write the address of RabbitMQ's management API itself"
        }
        let prefix = parts.percentEncodedPath.dropLast("/api/\(path)".count)
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(words). Write \(parts.scheme ?? "http")://USER:PASSWORD@\(host)\(port)\(prefix)"
    }
}
