import Foundation
import HTTP2
import TLS
import Testing

@testable import APNSSimulator

@Suite("Client certificates at the gateway", .timeLimit(.minutes(1)))
struct CertificateTrustTests {
    static let app = "com.example.app"

    private static let push = RequestBuilder().with("authorization", nil)

    private func certificate(
        _ simulator: RunningSimulator, _ topics: [String] = [app], environments: Set<ServiceEnvironment> = [],
        startsIn: Int = 0, days: Int = 1
    ) throws -> ProviderCertificate {
        try simulator.control.issue(
            ProviderCertificateRequest(topics: topics, environments: environments, days: days, startsIn: startsIn))
    }

    @Test("A certificate needs no provider token, and a token beside it is not looked at")
    func noToken() async throws {
        try await SimulatorBench.with({ $0.acceptsAnyKey = false }) { simulator in
            let client = try RawClient(simulator, certificate: try certificate(simulator))
            #expect(try client.exchange(Self.push).status == 200)
            #expect(try client.exchange(RequestBuilder()).status == 200)
            #expect(client.settings.first?.maxConcurrentStreams == 1000)
            #expect(try RawClient(simulator).exchange(Self.push).reason == "MissingProviderToken")
        }
    }

    @Test("Without apns-topic the only topic of a certificate counts; with several it is missing")
    func topicLeftOut() async throws {
        try await SimulatorBench.with { simulator in
            let bare = Self.push.with("apns-topic", nil)
            let one = try RawClient(simulator, certificate: try certificate(simulator))
            #expect(try one.exchange(bare).status == 200)
            #expect(simulator.ledger.records().map(\.topic) == [Self.app])
            let several = try certificate(simulator, [Self.app, Self.app + ".voip", Self.app + ".complication"])
            let many = try RawClient(simulator, certificate: several)
            #expect(try many.exchange(bare).reason == "MissingTopic")
            #expect(try many.exchange(Self.push.type("voip", topic: Self.app + ".voip")).status == 200)
            #expect(try many.exchange(Self.push.with("apns-topic", "com.other")).reason == "TopicDisallowed")
        }
    }

    @Test("Topics outside a certificate and types that need a token are refused, by choice with another reason")
    func topicOutside() async throws {
        try await SimulatorBench.with({ $0.trust.topicOutsideCertificate = .deviceTokenNotForTopic }) { simulator in
            let topics = [Self.app, Self.app + ".location-query"]
            let client = try RawClient(simulator, certificate: try certificate(simulator, topics))
            #expect(try client.exchange(Self.push.with("apns-topic", "com.other")).reason == "DeviceTokenNotForTopic")
            let location = Self.push.type("location", topic: Self.app + ".location-query")
            #expect(try client.exchange(location).reason == "DeviceTokenNotForTopic")
        }
    }

    @Test(
        "A certificate is for the environments its extensions name",
        arguments: [
            (.development, [], ""), (.production, [], ""),
            (.development, [.development], ""), (.production, [.production], ""),
            (.development, [.production], "BadCertificateEnvironment"),
            (.production, [.development], "BadCertificateEnvironment"),
        ] as [(ServiceEnvironment, Set<ServiceEnvironment>, String)])
    func environment(_ played: ServiceEnvironment, _ named: Set<ServiceEnvironment>, _ reason: String) async throws {
        try await SimulatorBench.with({ $0.environment = played }) { simulator in
            let client = try RawClient(simulator, certificate: try certificate(simulator, environments: named))
            #expect(try client.exchange(Self.push).reason == reason)
        }
    }

    @Test(
        "The wrong environment can be told by GOAWAY, once or twice",
        arguments: [(TrustChoices.EnvironmentAnswer.goaway, 1), (.goawayTwice, 2)])
    func environmentGoAway(_ answer: TrustChoices.EnvironmentAnswer, _ count: Int) async throws {
        try await SimulatorBench.with({ $0.trust.certificateEnvironment = answer }) { simulator in
            let client = try RawClient(
                simulator, certificate: try certificate(simulator, environments: [.production]))
            try client.waitForEnd()
            #expect(client.goAways.count == count)
            for goAway in client.goAways {
                #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"BadCertificateEnvironment"}"#)
            }
        }
    }

    @Test("Certificates that are expired, revoked or from a stranger are answered BadCertificate")
    func bad() async throws {
        try await SimulatorBench.with { simulator in
            let expired = try certificate(simulator, startsIn: -172_800)
            #expect(try RawClient(simulator, certificate: expired).exchange(Self.push).reason == "BadCertificate")
            let stranger = try CertificateAuthority.create(commonName: "A stranger")
            let foreign = try ProviderCertificates.issue(ProviderCertificateRequest(topics: [Self.app]), by: stranger)
            #expect(try RawClient(simulator, certificate: foreign).exchange(Self.push).reason == "BadCertificate")
            let good = try certificate(simulator)
            let client = try RawClient(simulator, certificate: good)
            #expect(try client.exchange(Self.push).status == 200)
            simulator.control.setCertificate(good.serialNumber.uppercased(), isRevoked: true)
            #expect(try client.exchange(Self.push).reason == "BadCertificate")
            simulator.control.setCertificate(good.serialNumber, isRevoked: false)
            #expect(try client.exchange(Self.push).status == 200)
            simulator.control.advanceClock(milliseconds: 2 * 86_400_000)
            #expect(try client.exchange(Self.push).reason == "BadCertificate")
        }
    }

    @Test("Authorities given as files are believed, too")
    func givenAuthority() async throws {
        let authority = try CertificateAuthority.create(commonName: "Our own authority")
        let file = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString).pem")
        try Data(authority.certificatePEM).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await SimulatorBench.with({ $0.clientTrustFiles = [file.path] }) { simulator in
            let own = try ProviderCertificates.issue(ProviderCertificateRequest(topics: [Self.app]), by: authority)
            #expect(try RawClient(simulator, certificate: own).exchange(Self.push).status == 200)
        }
    }

    @Test("By choice a bad certificate ends the handshake with an alert")
    func alert() async throws {
        try await SimulatorBench.with({ $0.trust.badCertificate = .alert }) { simulator in
            let good = try certificate(simulator)
            #expect(try RawClient(simulator, certificate: good).exchange(Self.push).status == 200)
            let expired = try certificate(simulator, startsIn: -172_800)
            let error = #expect(throws: TLSError.self) { try RawClient(simulator, certificate: expired) }
            #expect(error?.code == .certificateRefused)
            #expect(simulator.ledger.total == 1)
        }
    }

    @Test("By choice a revoked certificate, and one that expired by the simulator's clock, ends the handshake, too")
    func revokedAlert() async throws {
        try await SimulatorBench.with({ $0.trust.badCertificate = .alert }) { simulator in
            let good = try certificate(simulator)
            let open = try RawClient(simulator, certificate: good)
            #expect(try open.exchange(Self.push).status == 200)
            simulator.control.setCertificate(good.serialNumber, isRevoked: true)
            let revoked = #expect(throws: TLSError.self) { try RawClient(simulator, certificate: good) }
            #expect(revoked?.code == .certificateRefused)
            #expect(revoked?.message.contains("revoked") == true)
            #expect(try open.exchange(Self.push).reason == "BadCertificate")
            simulator.control.setCertificate(good.serialNumber, isRevoked: false)
            #expect(try RawClient(simulator, certificate: good).exchange(Self.push).status == 200)
            simulator.control.advanceClock(milliseconds: 2 * 86_400_000)
            let expired = #expect(throws: TLSError.self) { try RawClient(simulator, certificate: good) }
            #expect(expired?.message.contains("expired") == true)
        }
    }

    @Test("A revocation may take effect later, by the simulator's clock and across a restart")
    func lateRevocation() async throws {
        try await SimulatorBench.with { first in
            let directory = String(first.authorityFile.dropLast("/ca.pem".count))
            let good = try certificate(first)
            first.control.setCertificate(good.serialNumber, isRevoked: true, after: 3_600_000)
            let client = try RawClient(first, certificate: good)
            #expect(try client.exchange(Self.push).status == 200)
            await first.stop()
            try await SimulatorBench.with({ $0.stateDirectory = directory }) { second in
                let client = try RawClient(second, certificate: good)
                #expect(try client.exchange(Self.push).status == 200)
                second.control.advanceClock(milliseconds: 3_600_000)
                #expect(try client.exchange(Self.push).reason == "BadCertificate")
            }
        }
    }

    @Test("The authority of provider certificates survives a restart")
    func kept() async throws {
        try await SimulatorBench.with { first in
            let directory = String(first.authorityFile.dropLast("/ca.pem".count))
            let issued = try ProviderCertificates.issue(
                ProviderCertificateRequest(topics: [Self.app]), stateDirectory: directory)
            await first.stop()
            try await SimulatorBench.with({ $0.stateDirectory = directory }) { second in
                #expect(second.providerAuthorityPEM == first.providerAuthorityPEM)
                let client = try RawClient(second, certificate: issued)
                #expect(try client.exchange(Self.push).status == 200)
            }
        }
    }

    @Test("Impossible certificates are not issued")
    func impossible() async throws {
        try await SimulatorBench.with { simulator in
            for topics in [[], ["com example"], [String(repeating: "t", count: 201)]] {
                #expect(throws: SimulatorError.self) { try certificate(simulator, topics) }
            }
            #expect(throws: SimulatorError.self) { try certificate(simulator, days: 100_000) }
        }
    }
}
