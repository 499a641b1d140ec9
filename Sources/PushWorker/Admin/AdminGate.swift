import EventLoop
import PushModel
import WorkerSettings

/// Who may ask the admin server what.
///
/// - Reading is free on loopback. On other addresses only `/livez` and `/readyz` are answered without the token, and
///   without any detail: probes need that.
/// - Changes always need the token, because a page in a browser of this machine reaches loopback too.
/// - On loopback, a request for a foreign host name is refused, because DNS rebinding lets a web page reach loopback.
struct AdminGate: Sendable {
    /// What becomes of a request.
    enum Admission: Equatable {
        /// It is answered.
        case open
        /// It is answered without any detail.
        case brief
        /// It needs the token, or another one.
        case unauthorized
        /// It needs a token, and none is configured.
        case forbidden
        /// It is for a name that this machine does not have.
        case misdirected
    }

    /// Whether only this machine can reach the server.
    let isLoopback: Bool
    /// The file whose first line is the token; read at each request that shows one, so that a new token holds at once.
    let tokenFile: String?

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - isReading: Whether its method, GET or HEAD, promises to change nothing.
    ///   - path: Its path.
    ///   - host: Its `Host` header; nil without one, as with HTTP/1.0, which no browser speaks.
    ///   - authorization: Its `Authorization` header.
    func admission(isReading: Bool, path: String, host: String?, authorization: String?) -> Admission {
        if isLoopback, let host, !Self.isOfThisMachine(host) { return .misdirected }
        // A wrong token is no worse than none: probes and scrapers may send it wherever they ask.
        if let authorization, isToken(authorization) { return .open }
        if !isReading { return tokenFile == nil ? .forbidden : .unauthorized }
        if isLoopback { return .open }
        return path == "/livez" || path == "/readyz" ? .brief : .unauthorized
    }

    /// Whether a `Host` header, with a port or without, is `localhost` or an IP address: names that nobody else can give.
    private static func isOfThisMachine(_ text: String) -> Bool {
        guard let host = try? AddressText.splitHost(text[...]).host else { return false }
        return host.lowercased() == "localhost" || SocketAddress(host, port: 0) != nil
    }

    /// Whether a header carries the token (RFC 6750, 2.1).
    private func isToken(_ authorization: String) -> Bool {
        let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer", let tokenFile,
            let token = try? TextFile.firstLine(of: tokenFile),
            token.utf8.count >= WorkerConfiguration.shortestAdminToken
        else { return false }
        return Self.equal(Array(words[1].utf8), Array(token.utf8))
    }

    /// Compares in a time that tells nothing about where two texts differ.
    private static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
