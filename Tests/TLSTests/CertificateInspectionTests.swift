import Foundation
import LocalStack
import TestSupport
import Testing

@testable import TLS

@Suite("Certificate facts", .timeLimit(.minutes(1)))
struct CertificateInspectionTests {
    private let apple: AppleStyleCertificates

    init() throws {
        apple = try AppleStyleCertificates()
    }

    private func facts(_ name: String, _ content: AppleStyleCertificates.Content) throws -> CertificateFacts {
        let files = try apple.issue(name, content)
        return try CertificateIdentity(certificateFile: files.certificateFile, keyFile: files.keyFile).facts()
    }

    @Test("topics, environments, dates, serial number and digest are those openssl(1) shows")
    func everything() throws {
        var content = AppleStyleCertificates.Content()
        content.notBefore = "20260102030405Z"
        content.notAfter = "20270102030405Z"
        let facts = try facts("push", content)
        #expect(
            facts.topics == [
                .init(name: "com.example.app", kinds: ["app"]), .init(name: "com.example.app.voip", kinds: ["voip"]),
                .init(name: "com.example.app.complication", kinds: ["complication"]),
            ])
        #expect(facts.userID == "com.example.app")
        #expect(facts.subject == "CN=Apple Push Services: push,UID=com.example.app")
        #expect(facts.isForDevelopment && facts.isForProduction)
        #expect(facts.notBefore == 1_767_323_045)
        #expect(facts.notAfter == 1_798_859_045)
        let shown = try apple.openssl(
            "x509", "-in", apple.directory.file("push.pem"), "-noout", "-serial", "-fingerprint", "-sha256")
        #expect(shown.contains("serial=\(facts.serialNumber)\n"))
        #expect(shown.replacingOccurrences(of: ":", with: "").contains("=\(facts.fingerprint)\n"))
    }

    @Test(
        "each environment counts for itself",
        arguments: [(true, false), (false, true), (true, true), (false, false)])
    func environments(development: Bool, production: Bool) throws {
        var content = AppleStyleCertificates.Content()
        content.isForDevelopment = development
        content.isForProduction = production
        let facts = try facts("push", content)
        #expect(facts.isForDevelopment == development)
        #expect(facts.isForProduction == production)
        #expect(facts.namesEnvironment == (development || production))
    }

    @Test("without a list the user identifier is the topic, and without both there is no topic")
    func withoutList() throws {
        var content = AppleStyleCertificates.Content()
        content.topics = nil
        #expect(try facts("single", content).topics == [.init(name: "com.example.app", kinds: [])])
        content.userID = nil
        let nameless = try facts("nameless", content)
        #expect(nameless.topics.isEmpty)
        #expect(nameless.userID == nil)
    }

    /// A value of DER.
    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
    private static func text(_ text: String) -> [UInt8] { der(0x0C, Array(text.utf8)) }
    private static func list(_ parts: [UInt8]...) -> [UInt8] { der(0x30, Array(parts.joined())) }

    /// What the two extensions with topics hold, and the topics that follow from them.
    struct Listing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var topics: [UInt8]?
        var voip: [UInt8]?
        let expected: [String]

        init(_ name: String, topics: [UInt8]? = nil, voip: [UInt8]? = nil, _ expected: [String]) {
            testDescription = name
            self.topics = topics
            self.voip = voip
            self.expected = expected
        }
    }

    @Test(
        "topics for VoIP that stand in an extension of their own count too, whatever its form; an unknown form says nothing",
        arguments: [
            Listing("none", ["com.a"]),
            Listing("one text", voip: text("com.a.voip"), ["com.a", "com.a.voip voip"]),
            Listing(
                "one text of another kind", voip: der(0x16, Array("com.a.voip".utf8)), ["com.a", "com.a.voip voip"]),
            Listing("a list", voip: list(text("b.voip"), text("c.voip")), ["com.a", "b.voip voip", "c.voip voip"]),
            Listing(
                "a list with labels", voip: list(text("b.voip"), list(text("voip"))), ["com.a", "b.voip voip"]),
            Listing(
                "beside the list of all", topics: list(text("b"), list(text("app"), text("watch"))),
                voip: text("b.voip"), ["b app watch", "b.voip voip"]),
            Listing(
                "in both", topics: list(text("b.voip"), list(text("own"))), voip: text("b.voip"), ["b.voip own"]),
            Listing("nothing in it", voip: [0x05, 0x00], ["com.a"]),
            Listing("an empty list", voip: list(), ["com.a"]),
            Listing("an empty topic", voip: list(text("")), ["com.a"]),
            Listing("bytes without form", voip: Array("com.a.voip".utf8), ["com.a"]),
            Listing("more than one value", voip: text("a.voip") + text("b.voip"), ["com.a"]),
            Listing("cut short", voip: Array(list(text("b.voip")).dropLast()), ["com.a"]),
        ])
    func voip(listing: Listing) throws {
        let authority = try CertificateAuthority.create(commonName: "Developer relations of nobody")
        let extensions = [
            (CertificateInspection.topicsExtension, listing.topics),
            (CertificateInspection.voipExtension, listing.voip),
        ].compactMap { identifier, content in content.map { CertificateExtension(identifier, content: $0) } }
        let issued = try authority.issue(
            commonName: "VoIP Services: com.a", names: [], days: 1, client: true, userID: "com.a",
            extensions: extensions)
        let facts = try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM).facts()
        #expect(facts.topics.map { ([$0.name] + $0.kinds).joined(separator: " ") } == listing.expected)
    }

    @Test(
        "a damaged list of topics is an error that names the certificate",
        arguments: [
            "DER:05:00", "DER:30:80:00:00", "DER:30:03:0C:05:61", "DER:30:04:0C:02:61:62", "ASN1:UTF8:com.example.app",
            "DER:30:07:0C:01:61:30:02:0C:7F", "DER:30:84:FF:FF:FF:FF", "DER:FF:FF:FF:FF:FF", "DER:30",
            "DER:30:06:0C:02:61:00:30:00", "DER:30:06:0C:02:FF:FE:30:00", "DER:30:05:0C:01:61:0C:00",
            "DER:30:00:00",
        ])
    func damagedList(value: String) throws {
        var content = AppleStyleCertificates.Content()
        content.extensions = "1.2.840.113635.100.6.3.6 = \(value)\n"
        let error = #expect(throws: TLSError.self) { try facts("bad", content) }
        #expect(error?.code == .invalidCertificate)
        #expect(error?.message.contains("Apple Push Services: bad") == true)
    }

    @Test("the number of topics and of labels has a limit")
    func limits() throws {
        func list(topics: Int, kinds: Int) -> [UInt8] {
            let label: [UInt8] = [0x0C, 0x01, 0x61]
            let labels = label.repeated(kinds)
            let topic = label + [0x30, UInt8(labels.count)] + labels
            let content = topic.repeated(topics)
            return [0x30, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        #expect(CertificateInspection.topics(list(topics: 256, kinds: 16))?.count == 256)
        #expect(CertificateInspection.topics(list(topics: 257, kinds: 1)) == nil)
        #expect(CertificateInspection.topics(list(topics: 1, kinds: 17)) == nil)
    }

    @Test("random bytes and every cut of a good list are refused without a trap")
    func hostile() {
        let good: [UInt8] = [0x30, 0x0A, 0x0C, 0x03, 0x61, 0x2E, 0x62, 0x30, 0x03, 0x0C, 0x01, 0x63]
        #expect(CertificateInspection.topics(good) == [.init(name: "a.b", kinds: ["c"])])
        for count in 0..<good.count { #expect(CertificateInspection.topics(Array(good.prefix(count))) == nil) }
        for count in 0..<good.count { #expect(CertificateInspection.voipTopics(Array(good.prefix(count))).isEmpty) }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ -> UInt8 in
                // Mostly bytes that mean something here.
                [0x30, 0x0C, 0x01, 0x02, 0x80, 0x84, 0x61, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            let topics = CertificateInspection.topics(bytes)
            #expect(topics.map { $0.allSatisfy { !$0.name.isEmpty } } ?? true)
            #expect(CertificateInspection.voipTopics(bytes).allSatisfy { !$0.isEmpty })
        }
    }

    @Test("a certificate with any bit changed is read or refused, never a trap")
    func changed() throws {
        let files = try apple.issue("push")
        let good = try PEM.certificates(in: try PEM.contents(ofFile: files.certificateFile), from: "file")[0].der
        let key = try PEM.contents(ofFile: files.keyFile)
        for index in good.indices {
            var bytes = good
            bytes[index] ^= 1 << (index % 8)
            guard let certificate = Certificate(der: bytes) else { continue }
            let identity = try? CertificateIdentity(certificatePEM: try certificate.pem, keyPEM: key)
            let facts = try? identity?.facts()
            #expect((facts?.topics.count ?? 0) <= CertificateInspection.topicLimit)
        }
    }
}
