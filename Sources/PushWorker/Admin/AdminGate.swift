/// Who may ask the admin server what.
///
/// Reading is free where only this machine can ask. Elsewhere a stranger learns whether the worker lives and is ready,
/// which probes need, and nothing more. Whatever changes something needs the token, wherever it comes from: a page in a
/// browser of this machine reaches a loopback address too.
struct AdminGate: Sendable {
    /// What becomes of a request.
    enum Verdict: Equatable {
        /// It is answered.
        case open
        /// It is answered without any detail.
        case brief
        /// It needs the token, or another one.
        case unauthorized
        /// It needs a token, and none is configured.
        case forbidden
    }

    /// The fewest bytes of a token: 16 random letters and digits cannot be guessed over a network.
    static let shortestToken = 16

    /// Whether only this machine can reach the server.
    let isLoopback: Bool
    /// The file whose first line is the token; read at each request that shows one, so that a new token holds at once.
    let tokenFile: String?

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - isReading: Whether its method, GET or HEAD, promises to change nothing.
    ///   - path: Its path.
    ///   - authorization: Its `Authorization` header.
    func verdict(isReading: Bool, path: String, authorization: String?) -> Verdict {
        if let authorization {
            // A wrong token is said to be wrong, also where none was needed.
            return isToken(authorization) ? .open : .unauthorized
        }
        if !isReading { return tokenFile == nil ? .forbidden : .unauthorized }
        if isLoopback { return .open }
        return path == "/livez" || path == "/readyz" ? .brief : .unauthorized
    }

    /// Whether a header carries the token (RFC 6750, 2.1).
    private func isToken(_ authorization: String) -> Bool {
        let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer", let tokenFile,
            let token = try? TextFile.firstLine(of: tokenFile), token.utf8.count >= Self.shortestToken
        else { return false }
        return Self.equal(Array(words[1].utf8), Array(token.utf8))
    }

    /// Compares in a time that tells nothing about where two texts differ.
    private static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
