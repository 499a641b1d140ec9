import Foundation
import LocalStack
import TLS
import TestSupport
import Testing

@Suite("PKCS#12", .timeLimit(.minutes(1)))
struct PKCS12Tests {
    private let apple: AppleStyleCertificates

    init() throws {
        apple = try AppleStyleCertificates()
        try apple.issue("push")
    }

    /// Shakes hands as a client that shows the identity; returns what the server saw.
    private func shown(_ identity: CertificateIdentity) throws -> String? {
        let server = try ThrowawayCertificates()
        let clientTrust = TrustRoots(systemRoots: false, files: [apple.authorityFile])
        let pair = try TLSPair(
            client: server.clientContext(identity: identity),
            server: .server(identity: server.server(), applicationProtocols: ["h2"], clientTrust: clientTrust))
        try pair.shakeHands()
        return pair.server.peerCertificateSubject
    }

    @Test(
        "files of today and of yesterday are read with their password, and identify a client",
        arguments: [
            [], ["-legacy"], ["-legacy", "-keypbe", "PBE-SHA1-RC2-40", "-certpbe", "PBE-SHA1-RC2-40"],
            ["-legacy", "-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"],
            ["-keypbe", "NONE", "-certpbe", "NONE"], ["-macalg", "sha1"],
            ["-keypbe", "AES-128-CBC", "-certpbe", "AES-256-CBC", "-iter", "20000"],
        ])
    func formats(options: [String]) throws {
        let file = try apple.pack("push", password: "geheim ö", options)
        let identity = try CertificateIdentity(pkcs12File: file, password: Array("geheim ö".utf8))
        #expect(identity.subject == "CN=Apple Push Services: push,UID=com.example.app")
        #expect(try shown(identity) == identity.subject)
    }

    @Test("the chain in the file goes along with the certificate, and strangers in it stay behind")
    func chain() throws {
        try apple.issue("stranger")
        let more = try apple.directory.write(
            try String(contentsOfFile: apple.directory.file("stranger.pem"), encoding: .utf8)
                + String(contentsOfFile: apple.authorityFile, encoding: .utf8), to: "more.pem")
        let file = try apple.pack("push", password: "x", ["-certfile", more])
        let identity = try CertificateIdentity(pkcs12File: file, password: Array("x".utf8))
        #expect(identity.chainSubjects == [identity.subject, "CN=Worldwide Developer Relations of nobody"])
    }

    @Test("no password and an empty one are what they are", arguments: [nil, []] as [[UInt8]?])
    func withoutPassword(password: [UInt8]?) throws {
        let file = try apple.pack("push", password: "")
        #expect(try CertificateIdentity(pkcs12File: file, password: password).subject.hasSuffix("UID=com.example.app"))
    }

    @Test("reading an old file leaves the process's own ciphers as they were")
    func isolation() throws {
        let file = try apple.pack("push", password: "x", ["-legacy"])
        _ = try CertificateIdentity(pkcs12File: file, password: Array("x".utf8))
        #expect(!TLSLibrary.knowsCipher("RC2-40-CBC"))
        #expect(TLSLibrary.knowsCipher("AES-128-GCM"))
    }

    @Test("what is wrong with a file is said, with its name and without its password")
    func bad() throws {
        let file = try apple.pack("push", password: "geheim")
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        try apple.issue("unsealed")
        let unsealed = try apple.pack("unsealed", password: "geheim", ["-nomac"])
        try apple.openssl(
            "pkcs12", "-export", "-nokeys", "-in", apple.directory.file("push.pem"), "-passout", "pass:geheim", "-out",
            apple.directory.file("keyless.p12"))
        try apple.openssl(
            "pkcs12", "-export", "-nocerts", "-inkey", apple.directory.file("push.key"), "-passout", "pass:geheim",
            "-out", apple.directory.file("bare.p12"))
        let cut = try apple.directory.write(Array(bytes.dropLast(300)), to: "cut.p12")
        let empty = try apple.directory.write("", to: "empty.p12")
        let cases: [(file: String, password: String?, code: TLSError.Code, words: String)] = [
            (file, "falsch", .invalidKey, "the password is wrong"), (file, nil, .invalidKey, "the password is wrong"),
            (file, "a\u{0}b", .invalidKey, "zero byte"), (cut, "geheim", .invalidCertificate, "not a PKCS#12 file"),
            (unsealed, "geheim", .invalidCertificate, "integrity check"),
            (empty, "geheim", .invalidCertificate, "not a PKCS#12 file"),
            (apple.directory.file("push.pem"), "geheim", .invalidCertificate, "not a PKCS#12 file"),
            (apple.directory.file("missing.p12"), "geheim", .fileUnreadable, "missing.p12"),
            (apple.directory.file("keyless.p12"), "geheim", .invalidKey, "no private key"),
            (apple.directory.file("bare.p12"), "geheim", .invalidCertificate, "no certificate"),
        ]
        for (path, password, code, words) in cases {
            let error = #expect(throws: TLSError.self) {
                try CertificateIdentity(pkcs12File: path, password: password.map { Array($0.utf8) })
            }
            #expect(error?.code == code, "\(path): \(String(describing: error))")
            #expect(error?.message.contains(words) == true, "\(path): \(String(describing: error))")
            #expect(error?.message.contains(path) == true)
            #expect(error?.message.contains("geheim") == false && error?.message.contains("falsch") == false)
        }
    }

    @Test("bytes changed at any place are an error or the same identity, never a trap")
    func damaged() throws {
        let file = try apple.pack("push", password: "x", ["-iter", "1"])
        let good = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        for index in good.indices {
            var bytes = good
            bytes[index] ^= 1 << (index % 8)
            do throws(TLSError) {
                let identity = try CertificateIdentity(pkcs12: bytes, password: Array("x".utf8))
                #expect(identity.subject == "CN=Apple Push Services: push,UID=com.example.app")
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }

    @Test("a count of rounds that would take hours is refused at once")
    func rounds() throws {
        let file = try apple.pack("push", password: "x")
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        // The file ends with the count of its integrity check, 2048; the changed one is negative.
        #expect(bytes.suffix(4) == [0x02, 0x02, 0x08, 0x00])
        bytes[bytes.count - 2] = 0xFF
        let error = #expect(throws: TLSError.self) {
            try CertificateIdentity(pkcs12: bytes, password: Array("x".utf8))
        }
        #expect(error?.message.contains("rounds") == true)
    }
}
