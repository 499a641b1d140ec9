import Foundation
import TLS
import TestSupport
import Testing

@Suite("Certificates", .timeLimit(.minutes(1)))
struct CertificateTests {
    private let certificates: ThrowawayCertificates

    init() throws {
        certificates = try ThrowawayCertificates()
    }

    @Test("openssl(1) finds what the authority issues in order")
    func independent() throws {
        let directory = try Scratch()
        let server = try certificates.authority.issue(
            commonName: "push", names: ["push.example.com", "*.example.org", "127.0.0.1", "::1"], days: 3)
        let client = try certificates.authority.issue(commonName: "client", names: [], days: 3, client: true)
        try directory.write(certificates.authority.certificatePEM, "ca.pem")
        try directory.write(server.certificatePEM, "server.pem")
        try directory.write(client.certificatePEM, "client.pem")
        for arguments in [
            ["-purpose", "sslserver", "-verify_hostname", "push.example.com", "server.pem"],
            ["-purpose", "sslserver", "-verify_hostname", "any.example.org", "server.pem"],
            ["-purpose", "sslserver", "-verify_ip", "127.0.0.1", "server.pem"],
            ["-purpose", "sslserver", "-verify_ip", "::1", "server.pem"],
            ["-purpose", "sslclient", "client.pem"],
        ] {
            let output = try directory.openssl(["verify", "-x509_strict", "-CAfile", "ca.pem"] + arguments)
            #expect(output == "\(arguments[arguments.count - 1]): OK\n")
        }
        #expect(throws: Scratch.CommandFailed.self) {
            _ = try directory.openssl("verify", "-CAfile", "ca.pem", "-purpose", "sslserver", "client.pem")
        }
    }

    @Test("an authority read again from its texts goes on issuing")
    func authorityRoundTrip() throws {
        let again = try CertificateAuthority(
            certificatePEM: certificates.authority.certificatePEM, keyPEM: certificates.authority.keyPEM)
        let issued = try again.issue(commonName: "server", names: ["localhost"], days: 1)
        let identity = try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
        let server = try TLSContext.server(identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
        try TLSPair(client: certificates.clientContext(), server: server).shakeHands()
    }

    @Test("neither a leaf nor a stranger's key makes an authority")
    func noAuthority() throws {
        let leaf = try certificates.authority.issue(commonName: "leaf", names: [], days: 1)
        let first = #expect(throws: TLSError.self) {
            try CertificateAuthority(certificatePEM: leaf.certificatePEM, keyPEM: leaf.keyPEM)
        }
        #expect(first?.code == .invalidCertificate)
        let authority = certificates.authority
        let second = #expect(throws: TLSError.self) {
            try CertificateAuthority(certificatePEM: authority.certificatePEM, keyPEM: leaf.keyPEM)
        }
        #expect(second?.code == .invalidKey)
    }

    @Test(
        "names that would change the meaning of a certificate are refused",
        arguments: ["", "a,DNS:evil.example", "a b", "dirName:x", "localhost\n", "größe.example"])
    func badNames(name: String) {
        let error = #expect(throws: TLSError.self) {
            _ = try certificates.authority.issue(commonName: "x", names: [name], days: 1)
        }
        #expect(error?.code == .invalidName)
    }

    @Test("common names have 1 to 64 characters", arguments: [(0, false), (1, true), (64, true), (65, false)])
    func commonName(length: Int, isPossible: Bool) {
        let name = String(repeating: "é", count: length)
        #expect(((try? CertificateAuthority.create(commonName: name)) != nil) == isPossible)
    }

    @Test("an identity knows its subject and its end")
    func identity() throws {
        let identity = try certificates.server(days: 30)
        #expect(identity.subject == "CN=server")
        let end = Date().timeIntervalSince1970 + 30 * 86_400
        #expect(abs(Double(identity.notAfter) - end) < 100)
    }

    @Test("an identity comes from two files or from one, and may carry further certificates")
    func identityFiles() throws {
        let directory = try Scratch()
        let issued = try certificates.authority.issue(commonName: "server", names: ["localhost"], days: 1)
        try directory.write(issued.certificatePEM + certificates.authority.certificatePEM, "chain.pem")
        try directory.write(issued.keyPEM, "key.pem")
        try directory.write(issued.keyPEM + issued.certificatePEM, "both.pem")
        for (certificate, key) in [("chain.pem", "key.pem"), ("both.pem", "both.pem")] {
            let identity = try CertificateIdentity(
                certificateFile: directory.path(certificate), keyFile: directory.path(key))
            let server = try TLSContext.server(identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
            try TLSPair(client: certificates.clientContext(), server: server).shakeHands()
        }
    }

    @Test("an identity whose parts are missing, swapped or a stranger's is refused, and the file is named")
    func badIdentity() throws {
        let directory = try Scratch()
        let issued = try certificates.authority.issue(commonName: "server", names: [], days: 1)
        let other = try certificates.authority.issue(commonName: "other", names: [], days: 1)
        try directory.write(issued.certificatePEM, "certificate.pem")
        try directory.write(issued.keyPEM, "key.pem")
        try directory.write(other.keyPEM, "other.pem")
        try directory.write([], "empty.pem")
        try directory.write(Array(issued.certificatePEM.dropLast(80)), "cut.pem")
        let cases: [(certificate: String, key: String, code: TLSError.Code, names: String)] = [
            ("missing.pem", "key.pem", .fileUnreadable, "missing.pem"),
            ("certificate.pem", "missing.pem", .fileUnreadable, "missing.pem"),
            (".", "key.pem", .fileUnreadable, "read"),
            ("empty.pem", "key.pem", .invalidCertificate, "empty.pem"),
            ("cut.pem", "key.pem", .invalidCertificate, "cut.pem"),
            ("key.pem", "key.pem", .invalidCertificate, "key.pem"),
            ("certificate.pem", "certificate.pem", .invalidKey, "certificate.pem"),
            ("certificate.pem", "empty.pem", .invalidKey, "empty.pem"),
            ("certificate.pem", "other.pem", .invalidKey, "other.pem"),
        ]
        for (certificate, key, code, name) in cases {
            let error = #expect(throws: TLSError.self) {
                try CertificateIdentity(
                    certificateFile: directory.path(certificate), keyFile: directory.path(key))
            }
            #expect(error?.code == code)
            #expect(error?.message.contains(name) == true)
            #expect(error?.isRetriable == false)
        }
    }

    @Test("trust comes from files, several certificates each; a bad file is named")
    func trustFiles() throws {
        let directory = try Scratch()
        let other = try ThrowawayCertificates(name: "Other authority")
        try directory.write(other.authority.certificatePEM + certificates.authority.certificatePEM, "both.pem")
        try directory.write(Array("nothing here\n".utf8), "text.pem")
        func client(_ file: String) throws(TLSError) -> TLSContext {
            let trust = TrustRoots(systemRoots: true, files: [directory.path(file)])
            return try .client(trust: trust, identity: nil, applicationProtocols: ["h2"])
        }
        try TLSPair(client: client("both.pem"), server: certificates.serverContext()).shakeHands()
        for (file, code) in [("text.pem", TLSError.Code.invalidCertificate), ("missing.pem", .fileUnreadable)] {
            let error = #expect(throws: TLSError.self) { _ = try client(file) }
            #expect(error?.code == code)
            #expect(error?.message.contains(file) == true)
        }
    }

    @Test("the library says what it is")
    func version() {
        #expect(TLSLibrary.version.hasPrefix("OpenSSL 3."))
    }
}
