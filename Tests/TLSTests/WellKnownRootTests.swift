import LocalStack
import TestSupport
import Testing

@testable import TLS

@Suite("Well-known roots", .timeLimit(.minutes(1)))
struct WellKnownRootTests {
    /// Makes a self-signed authority with openssl(1); gives its file and digest.
    private func authority(_ apple: AppleStyleCertificates, _ name: String) throws -> (file: String, digest: String) {
        let file = apple.directory.file("\(name).pem")
        try apple.openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj",
            "/C=US/ST=New Jersey/O=Nobody/CN=Root of nobody", "-keyout", apple.directory.file("root.key"), "-out", file)
        let shown = try apple.openssl("x509", "-in", file, "-noout", "-fingerprint", "-sha256")
        let digest = shown.split(separator: "=").last.map { $0.filter { $0 != ":" && $0 != "\n" } } ?? ""
        return (file, String(digest))
    }

    private func root(_ digest: String, commonName: String = "Root of nobody") -> WellKnownRoot {
        WellKnownRoot(
            commonName: commonName, subject: [("C", "US"), ("ST", "New Jersey"), ("O", "Nobody")], fingerprint: digest)
    }

    @Test("a root is found among the trusted ones by its name, and believed by its digest")
    func found() throws {
        let apple = try AppleStyleCertificates()
        let (first, second) = (try authority(apple, "first"), try authority(apple, "second"))
        let trust = TrustRoots(systemRoots: false, files: [apple.authorityFile, first.file])
        #expect(try trust.contains(root(first.digest)))
        #expect(try !trust.contains(root(second.digest)), "the same name is not enough")
        #expect(try !trust.contains(root(first.digest, commonName: "Root of somebody")))
        #expect(try !TrustRoots(systemRoots: true, files: []).contains(root(first.digest)))
        // Two roots of one name, as when one was renewed.
        let both = TrustRoots(systemRoots: false, files: [first.file, second.file])
        #expect(try both.contains(root(first.digest)) && both.contains(root(second.digest)))
    }

    @Test("Apple's two roots are looked for under their names")
    func apns() throws {
        #expect(
            WellKnownRoot.apns.map(\.commonName) == [
                "USERTrust RSA Certification Authority", "AAA Certificate Services",
            ])
        let nothing = TrustRoots(systemRoots: false, files: [])
        for root in WellKnownRoot.apns {
            #expect(root.fingerprint.count == 64)
            #expect(try !nothing.contains(root))
        }
    }
}
