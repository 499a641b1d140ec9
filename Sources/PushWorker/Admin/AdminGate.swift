import EventLoop
import PushModel
import WorkerSettings

/// Decides which requests the admin server answers.
///
/// - Reading needs no token on loopback. On other addresses it needs the token, except for `/livez` and `/readyz`,
///   because probes have none. Without the token, these two show no detail.
/// - A request that may change something always needs the token, because a page in a browser of this machine reaches
///   loopback, too.
/// - On loopback, a request for a foreign host name is refused, because with DNS rebinding a web page reaches loopback.
struct AdminGate: Sendable {
    /// The decision about a request.
    enum Admission: Equatable {
        /// It is answered.
        case open
        /// It is answered without any detail.
        case brief
        /// It needs the token, and has none or a wrong one.
        case unauthorized
        /// It needs a token, and none is configured.
        case forbidden
        /// It names a host other than this machine.
        case misdirected
    }

    /// Whether only this machine can reach the server.
    let isLoopback: Bool
    /// The file whose first line is the token; nil for none. It is read at each request that shows a token, so that a
    /// new token holds at once.
    let tokenFile: String?

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - isReading: Whether its method is GET or HEAD, which promise to change nothing.
    ///   - path: Its path.
    ///   - host: Its `Host` header; nil without one. HTTP/1.0 needs none, but no browser speaks it.
    ///   - authorization: Its `Authorization` header.
    func admission(isReading: Bool, path: String, host: String?, authorization: String?) -> Admission {
        if isLoopback, let host, RequestHost(host) == .foreign { return .misdirected }
        // A wrong token counts as none, because probes and scrapers may send theirs to every server that they ask.
        if let authorization, isToken(authorization) { return .open }
        if !isReading { return tokenFile == nil ? .forbidden : .unauthorized }
        if isLoopback { return .open }
        return path == "/livez" || path == "/readyz" ? .brief : .unauthorized
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

    /// Compares two texts. The time that it takes does not tell where they differ.
    private static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
