import TLS

/// What stands in files of keys and certificates.
enum CredentialFuzzing {
    static func pem(_ bytes: [UInt8]) {
        _ = try? ES256PrivateKey(pem: bytes)
        _ = try? ES256PublicKey(pem: bytes)
        _ = try? CertificateIdentity(certificatePEM: bytes, keyPEM: bytes)
    }
}
