import Foundation
import LocalStack
import TestSupport
import Testing

@testable import TLS

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

    /// What `openssl pkcs12 -export -pbmac1_pbkdf2` of OpenSSL 3.6 wrote, with the password `geheim`.
    private static let sealed = """
        MIIE2QIBAzCCBEIGCSqGSIb3DQEHAaCCBDMEggQvMIIEKzCCAtoGCSqGSIb3DQEHBqCCAsswggLHAgEAMIICwAYJKoZIhvcNAQcB
        MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBCzPl9PwFT8apPiOWv2s+29AgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFl
        AwQBKgQQQCDaSZfsX8VvWyBp+mOnTYCCAlCaGqs63JWBNOYmXUttcq2QBQSqy82B157ZSyIqDWi0c40fO4jIDUbKHWMuA8wGajMr
        lnDHsxTRDShQT/V5k9tbf0H0u8pgE2LDztqfZnKc5pAcwl/DbQY0DlZlqYSQYodMpD1I3oSNK6KkzQ2xE1++negI9t+nG+MQtH7k
        nVVx7tRgmxJz3MljiYPFUSz44Ly6j6bujCgj8voUElDLSaBSENWySQPDE4bb4DmDSYqbF4+hdwC9MBjFHr95k3zmwKFrqrlRy3Eg
        WMVdMW4VHy9Mdr6Yu0DFD6O/9rsyaf0pU0eBBqlqpZpjPjfPZKZS0DErvzWajpAoADpoZGfWFrnrt7AczeggfATsXHmr3tC9aO1i
        5FtCdPC/RClspfsDwCVRUVN7fzefxJKoQ5ZEFn8lEBOCGltOmRdkYB6PNIXavfbTyZtp+vX99XVSQwYtDzBh20ej+ra1oUY+YdaO
        4VKefcbuujNtdj1pPM+MjB+6hlTumFV7ZpBTlFnC/8/wJyK5WbZC8+2dnbQ7lxTIi56z6+PBMh63vyqFFyUHV23j8mr0/+gtcE3v
        6SvpRWvzXMaCtIWckXRKlQ570DU08i/Nhp3rWYUDofJ4TWX5Fczq29IQwnwEaTZFnSqAIqqC6xmqQpdgMo0wH22F5T2KDkNIDh72
        rZmtTnLdE8IRkvyF9Nx2Zfyv2CHZRmsvbZTOtfqDqNSt1uYkMEtdKz/e5Y0zIB/O73XbeKp4N0dKZq84TK6Ppar3W83EaZzPrnbx
        2Zbq1q/fwAF/easPbu7vpuYJMIIBSQYJKoZIhvcNAQcBoIIBOgSCATYwggEyMIIBLgYLKoZIhvcNAQwKAQKggfcwgfQwXwYJKoZI
        hvcNAQUNMFIwMQYJKoZIhvcNAQUMMCQEEECI29uVnvmGGLkyWC0aw4YCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAz
        SFzfpFewkRNK6lHrNQG0BIGQVHaKOu4yguuyzwOAVkFPhjzpj3opubgYkHH0QiOhRzmDmVaRuAzVDZwPSqRCsyLUqkvtID/kfKRF
        eLChm4S0XiuRJVX7t10bDsyQvDQrGuTPr2y5U+ofXGjUAHDxNNEJW01wvrqZzYDlcSLhfpBAMeLZmRsZC9IKwnOtxmxGaZ1TsKHD
        v4ZO+I4TBiQr/g0TMSUwIwYJKoZIhvcNAQkVMRYEFBqXvYCgXs8zmbXEBlMLozrJ/3iBMIGNMHUwUQYJKoZIhvcNAQUOMEQwNAYJ
        KoZIhvcNAQUMMCcEEKc6C/xJNlppoJE/Ctpdd7ACAggAAgEgMAwGCCqGSIb3DQIJBQAwDAYIKoZIhvcNAgkFAAQgaSS2dIIeDJ5S
        c66nRWmmw2Cm70qXDCe7uKe98YksiDMEEKc6C/xJNlppoJE/Ctpdd7ACAggA
        """

    @Test("a file that is sealed with PBMAC1 is read where OpenSSL can, and else says what it needs")
    func pbmac1() throws {
        let bytes = Array(try #require(Data(base64Encoded: Self.sealed, options: .ignoreUnknownCharacters)))
        do throws(TLSError) {
            let identity = try CertificateIdentity(pkcs12: bytes, password: Array("geheim".utf8), source: "s.p12")
            #expect(identity.subject == "CN=Apple Push Services: sealed,UID=com.example.app")
            let wrong = #expect(throws: TLSError.self) {
                try CertificateIdentity(pkcs12: bytes, password: Array("falsch".utf8))
            }
            #expect(wrong?.message.contains("the password is wrong") == true)
        } catch {
            let words = error.message
            #expect(words.hasPrefix("s.p12 is sealed with PBMAC1 (RFC 9579), which OpenSSL checks from 3.4 on"))
            #expect(words.contains("this is OpenSSL 3.") && words.contains("cert_file"), "\(words)")
        }
    }

    @Test("the rounds of PBMAC1 are those of its password function")
    func roundsOfPBMAC1() throws {
        let bytes = Array(try #require(Data(base64Encoded: Self.sealed, options: .ignoreUnknownCharacters)))
        // As openssl-asn1parse(1) shows the file: the parameters are 70 bytes from 1119.
        let parameters = Array(bytes[1_119..<1_189])
        #expect(PBMAC1.rounds(parameters) == 2_048)
        for length in parameters.indices { #expect(PBMAC1.rounds(Array(parameters[..<length])) == nil) }
    }

    @Test("a file that is something else says what it is, and what to do")
    func others() throws {
        let file = try apple.pack("push", password: "geheim")
        let container = try Data(contentsOf: URL(fileURLWithPath: file))
        try apple.openssl(
            "x509", "-in", apple.directory.file("push.pem"), "-outform", "DER", "-out", apple.directory.file("der"))
        let der = Array(try Data(contentsOf: URL(fileURLWithPath: apple.directory.file("der"))))
        let pem = Array(try Data(contentsOf: URL(fileURLWithPath: apple.directory.file("push.pem"))))
        let cases: [(bytes: [UInt8], words: String)] = [
            (pem, "holds a certificate in PEM: name such files in cert_file and key_file instead of file"),
            (der, "is a certificate in DER, without a key: export the certificate together with its key"),
            (
                Array(container.base64EncodedString().utf8),
                "is a PKCS#12 file in base64: decode it once with: base64 -d"
            ),
            ([0xFE, 0xED, 0xFE, 0xED], "is a key store of Java: turn it into one with: keytool -importkeystore"),
            (Array("<html>".utf8), "is a web page or other markup: log in"),
            (Array("geheim".data(using: .utf16) ?? Data()), "is written in UTF-16"),
            (Array("geheim".utf8), "is something else: export the certificate with its key again"),
        ]
        for (bytes, words) in cases {
            let error = #expect(throws: TLSError.self) {
                try CertificateIdentity(pkcs12: bytes, password: Array("x".utf8), source: "c.p12")
            }
            let message = error?.message ?? ""
            #expect(message.hasPrefix("c.p12 is not a PKCS#12 file: it \(words)"), "\(words): \(message)")
        }
    }

    @Test("a blank at the end of a wrong password is named")
    func blank() throws {
        let file = try apple.pack("push", password: "geheim")
        let error = #expect(throws: TLSError.self) {
            try CertificateIdentity(pkcs12File: file, password: Array("geheim ".utf8))
        }
        #expect(error?.message == "\(file): the password is wrong; it ends with a blank: does the blank belong to it?")
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
