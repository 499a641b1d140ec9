/// The `broker.tls` section; paths are absolute or relative to the working directory, and readable at start.
package struct BrokerTLSConfiguration: Sendable, Equatable {
    /// Certificates that may vouch for the broker, PEM; nil for the system's.
    package var caFile: String?
    /// The client certificate, PEM; only together with ``keyFile``.
    package var certFile: String?
    /// The client certificate's key, PEM.
    package var keyFile: String?
}
