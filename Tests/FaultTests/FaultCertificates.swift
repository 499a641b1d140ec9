import LocalStack
import TLS

/// Certificate files of a broker and of a worker, which may be replaced at any time.
struct FaultCertificates: Sendable {
    private let directory: TemporaryDirectory
    private let name: String

    /// Where a set of files shall be.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - name: What their names begin with.
    init(in directory: TemporaryDirectory, name: String) {
        self.directory = directory
        self.name = name
    }

    /// The authority that both ends trust.
    var authorityFile: String { directory.file("\(name)-ca.pem") }
    /// The certificate of an end, `server` or `client`.
    func certificateFile(_ end: String) -> String { directory.file("\(name)-\(end).pem") }
    /// The key of an end.
    func keyFile(_ end: String) -> String { directory.file("\(name)-\(end).key") }

    /// Writes the files, over those that are there.
    ///
    /// - Parameters:
    ///   - authority: Who issues the broker's certificate.
    ///   - clientAuthority: Who issues the worker's certificate; nil for the same.
    ///   - trusted: Whom both ends trust; nil for the broker's issuer.
    ///   - names: What the broker is called.
    ///   - startingIn: When the broker's certificate becomes valid, in days from now; it lasts a day.
    ///   - client: What the worker is called.
    func write(
        issuedBy authority: CertificateAuthority, clientAuthority: CertificateAuthority? = nil,
        trusted: CertificateAuthority? = nil,
        names: [String] = ["localhost", "127.0.0.1"], startingIn days: Int = 0, client: String = "worker"
    ) throws {
        let server = try authority.issue(
            commonName: "broker", names: names, days: 1, notBeforeOffset: days == 0 ? -60 : days * 86_400)
        let issuer = clientAuthority ?? authority
        let worker = try issuer.issue(commonName: client, names: [], days: 1, client: true, notBeforeOffset: -60)
        let files = [
            ("ca.pem", (trusted ?? authority).certificatePEM), ("server.pem", server.certificatePEM),
            ("server.key", server.keyPEM), ("client.pem", worker.certificatePEM), ("client.key", worker.keyPEM),
        ]
        for (suffix, bytes) in files { try directory.write(bytes, to: "\(name)-\(suffix)") }
    }

    /// Variables for a worker that connects here.
    ///
    /// - Parameters:
    ///   - port: Where the broker listens.
    ///   - showsCertificate: Whether the worker has a certificate.
    func variables(port: Int, showsCertificate: Bool = true) -> [String: String] {
        var variables = [
            "MARTLET_BROKER_URI": "amqps://guest:guest@localhost:\(port)/",
            "MARTLET_BROKER_TLS_CA_FILE": authorityFile,
        ]
        if showsCertificate {
            variables["MARTLET_BROKER_TLS_CERT_FILE"] = certificateFile("client")
            variables["MARTLET_BROKER_TLS_KEY_FILE"] = keyFile("client")
        }
        return variables
    }
}
