import TLS
import Testing

@testable import APNSSimulator

@Suite("Provider tokens", .timeLimit(.minutes(1)))
struct ProviderTokenVerifierTests {
    static let now: Int64 = 1_763_712_800
    let maker: TokenMaker
    let verifier: ProviderTokenVerifier

    init() throws {
        maker = try TokenMaker()
        verifier = ProviderTokenVerifier(
            keys: [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey)],
            acceptsAnyWellFormed: false)
    }

    static func claimSet(_ issuedAt: String, team: String = "DEF7654321") -> String {
        #"{"iss":"\#(team)","iat":\#(issuedAt)}"#
    }

    @Test(
        "Claims decide between good, expired and invalid",
        arguments: [
            (claimSet("1763712800"), nil as Refusal?), (claimSet("1763709200"), nil),
            (claimSet("1763709199"), .expiredProviderToken), (claimSet("0"), .expiredProviderToken),
            (claimSet("\"1763712800\""), nil), (claimSet("1763712800.25"), nil), (claimSet("1763716400"), nil),
            (claimSet("1763716401"), .invalidProviderToken), (claimSet("1763712800000"), .invalidProviderToken),
            (claimSet("\"now\""), .invalidProviderToken), (claimSet("null"), .invalidProviderToken),
            (#"{"iss":"DEF7654321"}"#, .invalidProviderToken), (#"{"iat":1763712800}"#, .invalidProviderToken),
            (claimSet("1763712800", team: "ZZZ7654321"), .invalidProviderToken), ("[]", .invalidProviderToken),
            (#"{"iss":"DEF7654321","iat":1763712800,"kid":"ABC1234567","extra":{"a":1}}"#, nil),
            (claimSet("-9223372036854775808"), .expiredProviderToken),
        ])
    func claims(_ claims: String, _ refusal: Refusal?) throws {
        let authorization = "bearer " + (try maker.token(claims: claims))
        #expect(Self.refusal(verifier.verify(Array(authorization.utf8), now: Self.now)) == refusal)
    }

    @Test(
        "Headers must say ES256 and name a known key",
        arguments: [
            (#"{"alg":"ES256","kid":"ABC1234567","typ":"JWT"}"#, true), (#"{"kid":"ABC1234567"}"#, false),
            (#"{"alg":"none","kid":"ABC1234567"}"#, false), (#"{"alg":"HS256","kid":"ABC1234567"}"#, false),
            (#"{"alg":"ES256"}"#, false), (#"{"alg":"ES256","kid":"UNKNOWN000"}"#, false),
            (#"{"alg":"ES256","kid":7}"#, false), ("nonsense", false),
        ])
    func header(_ header: String, _ isGood: Bool) throws {
        let authorization = "bearer " + (try maker.token(header: header, claims: Self.claimSet("1763712800")))
        let expected: Refusal? = isGood ? nil : .invalidProviderToken
        #expect(Self.refusal(verifier.verify(Array(authorization.utf8), now: Self.now)) == expected)
    }

    @Test("A signature in DER is as good as a raw one")
    func derSignature() throws {
        let token = try maker.token(claims: Self.claimSet("1763712800"), isDER: true)
        #expect(Self.refusal(verifier.verify(Array("Bearer \(token)".utf8), now: Self.now)) == nil)
    }

    @Test("A changed, foreign or missing signature is invalid")
    func badSignature() throws {
        let token = try maker.token(claims: Self.claimSet("1763712800"))
        let foreign = try TokenMaker().token(claims: Self.claimSet("1763712800"))
        let unsigned = token.split(separator: ".").prefix(2).joined(separator: ".")
        var changed = Array(token.utf8)
        changed[changed.count - 10] =
            changed[changed.count - 10] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        for bad in [
            foreign, unsigned, unsigned + ".", String(decoding: changed, as: UTF8.self), token + ".x", "a.b.c", "",
        ] {
            let finding = verifier.verify(Array("bearer \(bad)".utf8), now: Self.now)
            #expect(Self.refusal(finding) == .invalidProviderToken)
        }
    }

    @Test("No authorization is missing, another scheme or a huge token is invalid")
    func scheme() throws {
        #expect(Self.refusal(verifier.verify(nil, now: Self.now)) == .missingProviderToken)
        #expect(Self.refusal(verifier.verify([], now: Self.now)) == .missingProviderToken)
        #expect(Self.refusal(verifier.verify(Array("Basic abc".utf8), now: Self.now)) == .invalidProviderToken)
        let huge = Array("bearer ".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 10_000)
        #expect(Self.refusal(verifier.verify(huge, now: Self.now)) == .invalidProviderToken)
    }

    @Test("Unsigned identifiers pass only where asked for, and never beside known keys")
    func anyKey() throws {
        let authorization = Array(try TokenMaker().bearer(issuedAt: Self.now, keyID: "ANYKEY0000").utf8)
        let closed = ProviderTokenVerifier(keys: [], acceptsAnyWellFormed: false)
        let open = ProviderTokenVerifier(keys: [], acceptsAnyWellFormed: true)
        #expect(Self.refusal(closed.verify(authorization, now: Self.now)) == .invalidProviderToken)
        #expect(Self.refusal(open.verify(authorization, now: Self.now)) == nil)
        #expect(Self.refusal(open.verify(authorization, now: Self.now + 3601)) == .expiredProviderToken)
        #expect(Self.refusal(open.verify(Array("bearer x".utf8), now: Self.now)) == .invalidProviderToken)
        let keys = [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey)]
        let both = ProviderTokenVerifier(keys: keys, acceptsAnyWellFormed: true)
        #expect(Self.refusal(both.verify(authorization, now: Self.now)) == .invalidProviderToken)
    }

    private static func refusal(_ finding: ProviderTokenVerifier.Finding) -> Refusal? {
        guard case .refused(let refusal) = finding else { return nil }
        return refusal
    }
}
