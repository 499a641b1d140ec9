import Foundation
import TLS
import Testing
import Text

@Suite("ES256", .timeLimit(.minutes(1)))
struct ES256Tests {
    private static let message = Array("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJURUFNIn0".utf8)

    @Test("five thousand signatures have 64 bytes each and are valid, those with leading zeros included")
    func many() throws {
        let key = try ES256PrivateKey.generate()
        var leadingZeros = 0
        for number in 0..<5000 {
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(message.span)
            let isGood = signature.count == 64 && key.publicKey.accepts(signature, of: message)
            if !isGood { Issue.record("signature \(number) is bad") }
            if signature[0] == 0 || signature[32] == 0 { leadingZeros += 1 }
        }
        // One number in 256 starts with a zero byte: about forty here, and none with a probability of 10^-17.
        #expect(leadingZeros > 0)
    }

    @Test("openssl(1) finds our signature valid, and we find its signature valid")
    func independent() throws {
        let directory = try Scratch()
        let key = try ES256PrivateKey.generate()
        try directory.write(Self.message, "message")
        try directory.write(key.pem, "key.p8")
        try directory.write(key.publicKey.pem, "public.pem")
        try directory.write(DER.signature(fromRaw: try key.sign(Self.message.span)), "ours.der")
        let verified = try directory.openssl(
            "dgst", "-sha256", "-verify", "public.pem", "-signature", "ours.der", "message")
        #expect(verified == "Verified OK\n")

        _ = try directory.openssl("dgst", "-sha256", "-sign", "key.p8", "-out", "theirs.der", "message")
        let theirs = try directory.read("theirs.der")
        #expect(key.publicKey.accepts(theirs, of: Self.message))
        #expect(!key.publicKey.accepts(theirs + [0], of: Self.message))
        #expect(!key.publicKey.accepts(Array(theirs.dropLast()), of: Self.message))
    }

    @Test("the example of RFC 7515, A.3 is valid")
    func rfcExample() throws {
        let header = "eyJhbGciOiJFUzI1NiJ9"
        let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = try #require(
            Base64.url.decode(
                Array("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q".utf8)[
                    ...]))
        let x = try #require(Base64.url.decode(Array("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".utf8)[...]))
        let y = try #require(Base64.url.decode(Array("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".utf8)[...]))
        // SubjectPublicKeyInfo for P-256 up to the uncompressed point (RFC 5480, 2).
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let body = Data(prefix + x + y).base64EncodedString()
        let key = try ES256PublicKey(pem: Array("-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----\n".utf8))
        #expect(key.accepts(signature, of: Array("\(header).\(claims)".utf8)))
        #expect(!key.accepts(signature, of: Array("\(header).\(claims)x".utf8)))
    }

    @Test("any changed bit, another message, another key make it invalid")
    func invalid() throws {
        let key = try ES256PrivateKey.generate()
        let signature = try key.sign(Self.message.span)
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1 << (index % 8)
            #expect(!key.publicKey.accepts(changed, of: Self.message))
        }
        #expect(!key.publicKey.accepts(signature, of: Array(Self.message[1..<5])))
        let other = try ES256PrivateKey.generate()
        #expect(!other.publicKey.accepts(signature, of: Self.message))
    }

    @Test(
        "bytes that are not a signature are invalid, never a trap",
        arguments: [
            [], [0], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xff, count: 64),
            [UInt8](repeating: 0x30, count: 63), [UInt8](repeating: 0x30, count: 65), [0x30, 0x80],
            [UInt8](repeating: 0x30, count: 10_000),
        ])
    func garbage(signature: [UInt8]) throws {
        let key = try ES256PrivateKey.generate()
        #expect(!key.publicKey.accepts(signature, of: Self.message))
        let nothing: [UInt8] = []
        #expect(!key.publicKey.accepts(signature, of: nothing))
    }

    @Test("an empty message can be signed")
    func emptyMessage() throws {
        let key = try ES256PrivateKey.generate()
        let nothing: [UInt8] = []
        #expect(key.publicKey.accepts(try key.sign(nothing.span), of: nothing))
    }

    @Test("keys survive their text form")
    func roundTrip() throws {
        let key = try ES256PrivateKey.generate()
        let again = try ES256PrivateKey(pem: key.pem)
        let publicAgain = try ES256PublicKey(pem: key.publicKey.pem)
        #expect(publicAgain.accepts(try again.sign(Self.message.span), of: Self.message))
        #expect(String(decoding: key.pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(!String(decoding: key.publicKey.pem, as: UTF8.self).contains("PRIVATE"))
    }

    @Test(
        "keys that are not on P-256 are refused",
        arguments: [
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "key"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out", "key"],
            ["genpkey", "-algorithm", "ED25519", "-out", "key"],
        ])
    func wrongKind(command: [String]) throws {
        let directory = try Scratch()
        _ = try directory.openssl(command)
        _ = try directory.openssl("pkey", "-in", "key", "-pubout", "-out", "public")
        let key = try directory.read("key")
        let publicKey = try directory.read("public")
        let first = #expect(throws: TLSError.self) { try ES256PrivateKey(pem: key) }
        #expect(first?.code == .invalidKey)
        let second = #expect(throws: TLSError.self) { try ES256PublicKey(pem: publicKey) }
        #expect(second?.code == .invalidKey)
    }

    @Test("a key made by openssl(1) is good, named curve in either text form", arguments: ["pkcs8", "ec"])
    func foreignKey(form: String) throws {
        let directory = try Scratch()
        if form == "ec" {
            _ = try directory.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key")
        } else {
            _ = try directory.openssl(
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key")
        }
        let key = try ES256PrivateKey(pem: try directory.read("key"))
        #expect(key.publicKey.accepts(try key.sign(Self.message.span), of: Self.message))
    }

    @Test("an encrypted key is refused without asking for a password")
    func encrypted() throws {
        let directory = try Scratch()
        let key = try ES256PrivateKey.generate()
        try directory.write(key.pem, "plain")
        _ = try directory.openssl(
            "pkcs8", "-topk8", "-in", "plain", "-out", "encrypted", "-passout", "pass:secret-word")
        let text = try directory.read("encrypted")
        let error = #expect(throws: TLSError.self) { try ES256PrivateKey(pem: text) }
        #expect(error?.code == .invalidKey)
        #expect(error?.description.contains("secret-word") == false)
    }

    @Test("damaged texts are refused, and the error shows none of them", arguments: [0, 1, 40, 120, 200])
    func damaged(length: Int) throws {
        let key = try ES256PrivateKey.generate()
        let text = Array(key.pem.prefix(length))
        let error = #expect(throws: TLSError.self) { try ES256PrivateKey(pem: text) }
        #expect(error?.code == .invalidKey)
        #expect(throws: TLSError.self) { try ES256PublicKey(pem: text) }
    }

    @Test("one key signs and verifies on several threads at once")
    func threads() async throws {
        let key = try ES256PrivateKey.generate()
        let bad = await withTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    (0..<300).count { number in
                        let message = Array("\(task) \(number)".utf8)
                        let signature = try? key.sign(message.span)
                        return !key.publicKey.accepts(signature ?? [], of: message)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(bad == 0)
    }

    @Test("keys are let go")
    func leaks() throws {
        weak var privateKey: ES256PrivateKey?
        weak var publicKey: ES256PublicKey?
        do {
            let key = try ES256PrivateKey.generate()
            privateKey = key
            publicKey = key.publicKey
            _ = try key.sign(Self.message.span)
        }
        #expect(privateKey == nil)
        #expect(publicKey == nil)
    }
}

extension ES256PublicKey {
    /// `isValid(signature:for:)` with an array, which `#expect` can take apart.
    fileprivate func accepts(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        isValid(signature: signature, for: message.span)
    }
}

/// The DER form of a signature, written again so that the test does not use what it tests.
private enum DER {
    static func signature(fromRaw raw: [UInt8]) -> [UInt8] {
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if let first = digits.first, first < 0x80 {} else { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
