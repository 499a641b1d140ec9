/// The certificate files of TLS connections to a broker, in PEM. Each look-up of the broker reads them anew.
package struct AMQPTLSFiles: Sendable, Equatable {
    /// The authorities to trust instead of the system's.
    package var caFile: String?
    /// The client certificate, followed by its intermediates.
    package var certFile: String?
    /// The unencrypted private key of `certFile`.
    package var keyFile: String?

    /// Names the files.
    ///
    /// - Parameters:
    ///   - caFile: The authorities to trust; the system's if nil.
    ///   - certFile: The client certificate chain.
    ///   - keyFile: The private key of the client certificate.
    package init(caFile: String? = nil, certFile: String? = nil, keyFile: String? = nil) {
        self.caFile = caFile
        self.certFile = certFile
        self.keyFile = keyFile
    }
}
