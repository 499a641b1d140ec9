@testable import TLS

/// What stands in files of keys and certificates.
enum CredentialFuzzing {
    static func pem(_ bytes: [UInt8]) {
        _ = try? ES256PrivateKey(pem: bytes)
        _ = try? ES256PublicKey(pem: bytes)
        _ = try? CertificateIdentity(certificatePEM: bytes, keyPEM: bytes).facts()
        if let certificate = try? PeerCertificate(pem: bytes) {
            _ = certificate.content(ofExtension: CertificateInspection.topicsExtension)
        }
    }

    static func pkcs12(_ bytes: [UInt8]) {
        _ = try? PKCS12.read(bytes, password: Array("martlet".utf8), from: "the file")
    }

    static func topics(_ bytes: [UInt8]) {
        let topics = CertificateInspection.topics(bytes) ?? []
        precondition(topics.count <= CertificateInspection.topicLimit)
        // The simulator reads the list by itself, as it knows nothing of a provider's side.
        SimulatorFuzzing.certificateTopics(bytes)
    }
}
