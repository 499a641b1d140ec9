import Foundation
import HTTP2
import TLS
import Testing

@testable import APNSSimulator

@Suite("What certificates say", .timeLimit(.minutes(1)))
struct PushCertificateExtensionTests {
    @Test("Topics are written as they are read, however many", arguments: [1, 2, 3, 40, 400])
    func roundTrip(_ count: Int) {
        let topics = (0..<count).map { "com.example.app\($0)" + ["", ".voip", ".complication"][$0 % 3] }
        let content = PushCertificateExtension.content(topics: topics)
        #expect(PushCertificateExtension.topics(in: content) == topics)
    }

    @Test("As many topics as are read, of the greatest length, are written as they are read")
    func longest() {
        let topics = (0..<PushCertificateExtension.topicLimit).map { number in
            let name = "com.example.app\(number)."
            return name + String(repeating: "a", count: PushRules.topicLimit - name.count)
        }
        let content = PushCertificateExtension.content(topics: topics)
        #expect(content.count > 0x10000)
        #expect(PushCertificateExtension.topics(in: content) == topics)
    }

    @Test("A cut, changed or foreign extension never traps and yields no more than it holds")
    func damaged() {
        let content = PushCertificateExtension.content(topics: ["com.example.app", "com.example.app.voip"])
        for end in 0..<content.count { #expect(PushCertificateExtension.topics(in: Array(content[..<end])).isEmpty) }
        for index in content.indices {
            for value in [0, 0x7F, 0x80, 0x84, 0xFF] as [UInt8] {
                var changed = content
                changed[index] = value
                #expect(PushCertificateExtension.topics(in: changed).count <= 4)
            }
        }
        #expect(PushCertificateExtension.topics(in: [0x0C, 3] + Array("a.b".utf8)) == ["a.b"])
        #expect(PushCertificateExtension.topics(in: [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]).isEmpty)
        #expect(PushCertificateExtension.topics(in: [0x0C, 2, 0xFF, 0xFE]).isEmpty)
    }

    @Test("openssl(1) finds subject and extensions where Apple has them")
    func openssl() async throws {
        try await SimulatorBench.with { simulator in
            let issued = try simulator.control.issue(
                ProviderCertificateRequest(topics: ["com.example.app", "com.example.app.voip"]))
            let file = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString).pem")
            try Data(issued.certificatePEM).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let text = try await SimulatorBench.run(
                "/usr/bin/openssl", ["x509", "-in", file.path, "-noout", "-text"]
            ).output.replacing(" = ", with: "=")  // OpenSSL 3.0 has spaces here, 3.5 none.
            for piece in [
                "UID=com.example.app", "1.2.840.113635.100.6.3.1", "1.2.840.113635.100.6.3.2",
                "1.2.840.113635.100.6.3.6", "com.example.app.voip", "TLS Web Client Authentication",
            ] {
                #expect(text.contains(piece), "\(piece)")
            }
            let peer = try PeerCertificate(pem: issued.certificatePEM)
            #expect(peer.userID == "com.example.app")
            #expect(peer.serialNumber == issued.serialNumber)
            #expect(peer.content(ofExtension: "1.2.3.4") == nil)
            #expect(peer.content(ofExtension: "no identifier") == nil)
        }
    }
}
