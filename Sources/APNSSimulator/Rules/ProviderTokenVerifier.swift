import TLS
import Text

/// Verifies provider tokens: the JSON Web Token behind `authorization: bearer`.
///
/// - The header must have the algorithm ES256 and the `kid` of a known key.
/// - The claims must have the key's team as `iss`, and an `iat`. `iat` is a number or a string: one library in wide use
///   writes a string.
/// - The signature is raw, as RFC 7518 demands, or DER, as Apple's own shell recipe makes it.
struct ProviderTokenVerifier {
    /// How old a token may become, in seconds.
    static let lifetime: Int64 = 3600

    /// How far `iat` may lie in the future, in seconds. Apple's text can be read so, and clocks differ.
    static let allowedAdvance: Int64 = 3600

    /// The longest value of `authorization` that is read, in bytes; `bearer ` counts too.
    static let sizeLimit = 4096

    /// The known keys by key identifier.
    private let keys: [String: ProviderKey]

    /// Whether, with no keys known, every well-formed token counts as signed.
    private let acceptsAnyWellFormed: Bool

    /// The identifiers of keys that are no longer good.
    private let revoked: Set<String>

    /// What verification found.
    enum Finding: Equatable {
        /// The token is good now.
        case valid(ProviderTokenFacts)
        /// The token is not good; this is the answer.
        case refused(Refusal)
    }

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - keys: The known keys; of two with the same identifier the later one counts.
    ///   - acceptsAnyWellFormed: Whether signatures and identifiers go unchecked where no keys are known.
    ///   - revoked: The identifiers of keys that are no longer good.
    init(keys: [ProviderKey], acceptsAnyWellFormed: Bool, revoked: Set<String> = []) {
        self.revoked = revoked
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }, uniquingKeysWith: { _, later in later })
        self.acceptsAnyWellFormed = acceptsAnyWellFormed && keys.isEmpty
    }

    /// The known key of an identifier.
    ///
    /// - Parameter keyID: `kid` of a token.
    /// - Returns: The key, nil where the verifier knows none.
    func key(_ keyID: String) -> ProviderKey? { keys[keyID] }

    /// Verifies the value of `authorization`.
    ///
    /// - Parameters:
    ///   - authorization: The header's bytes, nil where it is absent.
    ///   - now: Seconds since 1970.
    /// - Returns: The token's facts, or the refusal APNs would answer.
    func verify(_ authorization: [UInt8]?, now: Int64) -> Finding {
        guard let authorization else { return .refused(.missingProviderToken) }
        let scheme = Array("bearer ".utf8)
        guard authorization.count <= Self.sizeLimit, authorization.count >= scheme.count,
            authorization.prefix(scheme.count).map({ $0 | 0x20 }) == scheme
        else {
            return .refused(authorization.isEmpty ? .missingProviderToken : .invalidProviderToken)
        }
        guard let facts = signedFacts(authorization.dropFirst(scheme.count)) else {
            return .refused(.invalidProviderToken)
        }
        return judgeAge(of: facts, now: now)
    }

    /// Judges only the age, for a token that was verified before on the same connection.
    ///
    /// - Parameters:
    ///   - facts: What the token says.
    ///   - now: Seconds since 1970.
    /// - Returns: The same facts, or a refusal: `ExpiredProviderToken` for a token that is too old,
    ///   `InvalidProviderToken` for an `iat` too far in the future.
    func judgeAge(of facts: ProviderTokenFacts, now: Int64) -> Finding {
        let age = now.subtractingReportingOverflow(facts.issuedAt)
        if age.overflow || age.partialValue > Self.lifetime { return .refused(.expiredProviderToken) }
        if age.partialValue < -Self.allowedAdvance { return .refused(.invalidProviderToken) }
        return .valid(facts)
    }

    private func signedFacts(_ token: ArraySlice<UInt8>) -> ProviderTokenFacts? {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64.url.decode(parts[0]).flatMap(JSONReader.members(of:)),
            let claims = Base64.url.decode(parts[1]).flatMap(JSONReader.members(of:)),
            let signature = Base64.url.decode(parts[2]), !signature.isEmpty,
            Self.text("alg", in: header) == "ES256",
            let keyID = Self.text("kid", in: header),
            let teamID = Self.text("iss", in: claims),
            let issuedAt = Self.seconds("iat", in: claims)
        else { return nil }
        let facts = ProviderTokenFacts(keyID: keyID, teamID: teamID, issuedAt: issuedAt)
        guard !revoked.contains(keyID) else { return nil }
        if acceptsAnyWellFormed { return facts }
        guard let key = keys[keyID], key.teamID == teamID else { return nil }
        let message = Array(token[parts[0].startIndex..<parts[1].endIndex])
        return key.publicKey.isValid(signature: signature, for: message.span) ? facts : nil
    }

    private typealias Members = [(name: [UInt8], value: JSONReader.Scalar)]

    private static func text(_ name: String, in members: Members) -> String? {
        guard case .string(let bytes) = members.first(where: { $0.name.elementsEqual(name.utf8) })?.value,
            !bytes.isEmpty
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func seconds(_ name: String, in members: Members) -> Int64? {
        switch members.first(where: { $0.name.elementsEqual(name.utf8) })?.value {
        case .number(let digits), .string(let digits):
            let text = String(decoding: digits, as: UTF8.self)
            // Some libraries write a fraction; only whole seconds count.
            return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
        default:
            return nil
        }
    }
}
