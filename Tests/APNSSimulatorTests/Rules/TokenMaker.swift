import EventLoop
import TLS
import Text

/// Makes provider tokens, good ones and others.
struct TokenMaker: Sendable {
    let key: ES256PrivateKey

    /// When the usual token was made, in seconds since 1970: one for all pushes, as a provider does it.
    let issuedAt = WallClock.milliseconds() / 1000

    init() throws { key = try ES256PrivateKey.generate() }

    func token(
        header: String = #"{"alg":"ES256","kid":"ABC1234567"}"#, claims: String, isDER: Bool = false
    ) throws -> String {
        var signed: [UInt8] = []
        Base64.url.append(Array(header.utf8), to: &signed)
        signed.append(UInt8(ascii: "."))
        Base64.url.append(Array(claims.utf8), to: &signed)
        var signature = try key.sign(signed.span)
        if isDER { signature = Self.der(signature) }
        signed.append(UInt8(ascii: "."))
        Base64.url.append(signature, to: &signed)
        return String(decoding: signed, as: UTF8.self)
    }

    func bearer(issuedAt: Int64, keyID: String = "ABC1234567", teamID: String = "DEF7654321") throws -> String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        return "bearer " + (try token(header: header, claims: #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#))
    }

    /// The SEQUENCE of two INTEGERs that `openssl dgst -sign` writes.
    static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let content = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(content.count)] + content
    }
}
