import TLS

/// Makes devices and their tokens genuine: a certificate authority and the token key, kept in the state directory.
struct DeviceAuthority: Sendable {
    /// How long a device's certificate is valid, in days.
    static let validity = 3650

    /// Seals device tokens.
    let tokens: DeviceTokenCodec
    /// The certificates that the device port trusts.
    var trust: TrustRoots { TrustRoots(systemRoots: false, files: [], pem: [authority.certificatePEM]) }

    private let authority: CertificateAuthority

    /// Reads or makes authority and token key.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: ``SimulatorError`` where files cannot be read, understood or written.
    init(in directory: StateDirectory) throws(SimulatorError) {
        do {
            if let certificate = try directory.read("device-ca.pem", limit: 1 << 20),
                let key = try directory.read("device-ca-key.pem", limit: 1 << 20)
            {
                authority = try CertificateAuthority(certificatePEM: certificate, keyPEM: key)
            } else {
                authority = try CertificateAuthority.create(commonName: "Martlet APNs simulator device CA")
                try directory.write(authority.keyPEM, to: "device-ca-key.pem", isSecret: true)
                try directory.write(authority.certificatePEM, to: "device-ca.pem", isSecret: false)
            }
            let key: SealingKey
            if let kept = try directory.read("token.key", limit: 1 << 10) {
                key = try SealingKey(bytes: kept)
            } else {
                key = try SealingKey.generate()
                try directory.write(key.bytes, to: "token.key", isSecret: true)
            }
            tokens = DeviceTokenCodec(key: key)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.credential, "the device keys in \(directory.path) cannot be used: \(error)")
        }
    }

    /// Issues a device's certificate.
    ///
    /// - Parameter device: The device.
    /// - Returns: Certificate and key in PEM.
    /// - Throws: ``SimulatorError`` where OpenSSL fails.
    func issue(for device: DeviceID) throws(SimulatorError) -> (certificate: String, key: String) {
        do {
            let issued = try authority.issue(
                commonName: device.description, names: [], days: Self.validity, client: true)
            return (
                String(decoding: issued.certificatePEM, as: UTF8.self), String(decoding: issued.keyPEM, as: UTF8.self)
            )
        } catch {
            throw SimulatorError(.credential, "cannot issue a device certificate: \(error)")
        }
    }
}
