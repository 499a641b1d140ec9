import TLS

/// The simulator's certificate authorities and server certificate, kept as PEM files in its state directory.
///
/// The authorities are made once, so that they stay trusted. The server certificate is issued at every start, so that
/// it is new and has the names asked for.
struct CertificateStore {
    /// The names every server certificate has.
    static let localNames = ["localhost", "127.0.0.1", "::1"]

    /// How long a server certificate is valid, in days.
    static let validity = 90

    /// The path of the authority's certificate, for clients to trust.
    let authorityFile: String

    /// The authority's certificate.
    let authorityPEM: [UInt8]

    /// The server's certificate and key.
    let identity: CertificateIdentity

    /// The authority of the server's certificate.
    let authority: CertificateAuthority

    /// The names and addresses of the server's certificate.
    let names: [String]

    /// The authority of the certificates that providers show. It stands for Apple's.
    let providerAuthority: CertificateAuthority

    /// Opens or fills a state directory.
    ///
    /// - Parameters:
    ///   - directory: The path; made where it is missing.
    ///   - names: Names and addresses for the server certificate beside the local ones.
    /// - Throws: ``SimulatorError`` where files or certificates cannot be made or read.
    init(directory: String, names: [String]) throws(SimulatorError) {
        let files = try StateDirectory(directory)
        authority = try Self.authority(in: files, named: "ca", commonName: "Martlet APNs simulator CA")
        providerAuthority = try Self.authority(in: files, named: Self.providerFile, commonName: Self.providerName)
        self.names = Self.localNames + names
        do {
            let issued = try authority.issue(
                commonName: "Martlet APNs simulator", names: self.names, days: Self.validity)
            try files.write(issued.certificatePEM, to: "server.pem", isSecret: false)
            try files.write(issued.keyPEM, to: "server-key.pem", isSecret: true)
            identity = try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.credential, "cannot issue the server certificate: \(error)")
        }
        authorityFile = files.file("ca.pem")
        authorityPEM = authority.certificatePEM
    }

    /// The authority of the certificates that providers show; made and kept the first time.
    ///
    /// - Parameter directory: The state directory; made where it is missing.
    /// - Returns: The authority.
    /// - Throws: ``SimulatorError`` where files or certificates cannot be made or read.
    static func providerAuthority(directory: String) throws(SimulatorError) -> CertificateAuthority {
        try authority(in: try StateDirectory(directory), named: providerFile, commonName: providerName)
    }

    private static let providerFile = "provider-ca"
    private static let providerName = "Martlet Worldwide Developer Relations CA"

    private static func authority(
        in files: StateDirectory, named name: String, commonName: String
    ) throws(SimulatorError) -> CertificateAuthority {
        do {
            if let kept = try Self.kept(in: files, named: name) { return kept }
            // Another process may make the same authority now: a simulator at its first start, or a command that issues
            // a certificate.
            let lock = try StateLock(waitingIn: files)
            defer { lock.release() }
            if let kept = try Self.kept(in: files, named: name) { return kept }
            let created = try CertificateAuthority.create(commonName: commonName)
            try files.write(created.keyPEM, to: "\(name)-key.pem", isSecret: true)
            try files.write(created.certificatePEM, to: "\(name).pem", isSecret: false)
            return created
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(
                .credential, "the certificate authority in \(files.path) cannot be used: \(error)")
        }
    }

    /// Reads an authority; nil without one. Its certificate is written after its key, so where the certificate
    /// is, the key is too.
    private static func kept(in files: StateDirectory, named name: String) throws -> CertificateAuthority? {
        guard let certificate = try files.read("\(name).pem", limit: fileLimit),
            let key = try files.read("\(name)-key.pem", limit: fileLimit)
        else { return nil }
        return try CertificateAuthority(certificatePEM: certificate, keyPEM: key)
    }

    private static let fileLimit = 1 << 20
}
