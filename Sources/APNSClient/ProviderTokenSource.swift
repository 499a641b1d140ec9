import Synchronization
package import TLS
import Text

/// Makes the provider tokens of one key. All connections and routes that use the key share it.
///
/// Apple: <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
package final class ProviderTokenSource: Sendable {
    private struct State {
        var schedule = ProviderTokenSchedule()
        var token: ProviderToken?
    }

    /// Signs a text by ES256.
    package typealias Signature = @Sendable (_ text: [UInt8]) throws(TLSError) -> [UInt8]

    /// The key's identifier.
    package let keyID: String
    /// The identifier of the team the key belongs to.
    package let teamID: String
    private let signature: Signature
    private let state = Mutex(State())

    /// A source that has made no token yet.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier, ten characters.
    ///   - teamID: The team's identifier, ten characters.
    ///   - signature: Signs with the private key of the `.p8` file.
    package init(keyID: String, teamID: String, signature: @escaping Signature) {
        self.keyID = keyID
        self.teamID = teamID
        self.signature = signature
    }

    /// A source that has made no token yet.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier, ten characters.
    ///   - teamID: The team's identifier, ten characters.
    ///   - key: The private key of the `.p8` file.
    package convenience init(keyID: String, teamID: String, key: ES256PrivateKey) {
        self.init(keyID: keyID, teamID: teamID) { text throws(TLSError) in try key.sign(text.span) }
    }

    /// The token for a connection that opens or changes its token. A new one is made every 30 minutes.
    ///
    /// - Parameter wallSeconds: Seconds since 1970.
    /// - Returns: The newest token.
    /// - Throws: `APNSClientError` when signing fails.
    package func current(wallSeconds: Int64) throws(APNSClientError) -> ProviderToken {
        try token(for: .current, wallSeconds: wallSeconds)
    }

    /// The token to use after APNs called one expired. One new token is made for all callers that report the same
    /// expired token, and only if that token is at least 60 seconds old.
    ///
    /// No other answer leads to a new token, above all not `TooManyProviderTokenUpdates`.
    ///
    /// - Parameters:
    ///   - generation: The number of the expired token.
    ///   - wallSeconds: Seconds since 1970.
    /// - Returns: The newest token, which may be the expired one.
    /// - Throws: `APNSClientError` when signing fails.
    @discardableResult
    package func refresh(
        after generation: Int, wallSeconds: Int64
    ) throws(APNSClientError) -> ProviderToken {
        try token(for: .expired(generation: generation), wallSeconds: wallSeconds)
    }

    private func token(
        for request: ProviderTokenSchedule.Request, wallSeconds: Int64
    ) throws(APNSClientError) -> ProviderToken {
        try state.withLock { state throws(APNSClientError) in
            if let token = state.token, !state.schedule.needsNew(for: request, now: wallSeconds) { return token }
            let header = try sign(issuedAt: wallSeconds)
            state.schedule.issued(now: wallSeconds)
            let token = ProviderToken(
                header: header, generation: state.schedule.generation, issuedAt: wallSeconds)
            state.token = token
            return token
        }
    }

    /// Makes `bearer` and a JSON web token in its compact form (RFC 7515, section 3.1; ES256: RFC 7518, section 3.4).
    private func sign(issuedAt: Int64) throws(APNSClientError) -> [UInt8] {
        let protected = #"{"alg":"ES256","kid":\#(JSONEscaping.quoted(keyID))}"#
        let claims = #"{"iss":\#(JSONEscaping.quoted(teamID)),"iat":\#(issuedAt)}"#

        var token: [UInt8] = []
        Base64.url.append(Array(protected.utf8), to: &token)
        token.append(UInt8(ascii: "."))
        Base64.url.append(Array(claims.utf8), to: &token)
        do throws(TLSError) {
            let signature = try signature(token)
            token.append(UInt8(ascii: "."))
            Base64.url.append(signature, to: &token)
        } catch {
            throw APNSClientError(.signing, "the provider token of key \(keyID) cannot be signed: \(error.message)")
        }
        return Array("bearer ".utf8) + token
    }
}
