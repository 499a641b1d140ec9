/// What a private broker is started with.
package struct PrivateBrokerOptions: Sendable {
    /// Certificate files of a TLS listener.
    package struct TLS: Sendable {
        /// PEM file with the authorities that client certificates are checked against.
        package var authorityFile: String
        /// PEM file with the server's certificate.
        package var certificateFile: String
        /// PEM file with its private key.
        package var keyFile: String
        /// Whether clients must show a certificate. They may then log in with it alone: its common name is the user.
        package var external: Bool

        /// Names the three files.
        ///
        /// - Parameters:
        ///   - authorityFile: PEM file with the authorities that client certificates are checked against.
        ///   - certificateFile: PEM file with the server's certificate.
        ///   - keyFile: PEM file with its private key.
        ///   - external: Whether clients must show a certificate, and may log in with it alone (SASL EXTERNAL).
        package init(authorityFile: String, certificateFile: String, keyFile: String, external: Bool = false) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.external = external
        }
    }

    /// Whether the management plugin runs, on a port of its own. It costs about 2 s at start and 40 MB.
    package var management: Bool
    /// Certificates of a second, encrypted listener; nil for no such listener.
    package var tls: TLS?
    /// Further lines for `rabbitmq.conf`, for example `heartbeat = 5`.
    package var configuration: [String]
    /// How long the broker may take until it answers.
    package var startTimeout: Duration

    /// Makes options.
    ///
    /// - Parameters:
    ///   - management: Whether the management plugin runs.
    ///   - tls: Certificates of a second, encrypted listener.
    ///   - configuration: Further lines for `rabbitmq.conf`.
    ///   - startTimeout: How long the broker may take until it answers.
    package init(
        management: Bool = false, tls: TLS? = nil, configuration: [String] = [], startTimeout: Duration = .seconds(90)
    ) {
        self.management = management
        self.tls = tls
        self.configuration = configuration
        self.startTimeout = startTimeout
    }
}
