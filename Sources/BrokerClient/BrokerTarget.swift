package import EventLoop
package import RabbitMQ
import TLS

/// All that one attempt to reach a broker needs.
///
/// The attempt looks up no name and reads none of the endpoint's files. Only OpenSSL may read the system's directory of
/// trusted certificates during the handshake.
package struct BrokerTarget: Sendable {
    /// How to log in.
    package var endpoint: AMQPEndpoint
    /// The address to dial.
    package var address: SocketAddress
    /// The context that TLS connections share; nil for a connection without TLS.
    var tls: TLSContext?
    /// Begins to connect to the address.
    package var dial: @Sendable (SocketAddress) throws(EventLoopError) -> Socket = Socket.startConnecting

    /// Looks up an endpoint's host and reads its certificate files. It blocks, so call it on a helper thread only.
    ///
    /// - Parameters:
    ///   - endpoint: Where to connect and how to log in.
    ///   - resolve: Looks a host up.
    /// - Returns: One target for each address, in the system's order of preference; never empty.
    /// - Throws: `unresolved` if the host has no address, `tls` if a file cannot be used.
    package static func find(
        _ endpoint: AMQPEndpoint,
        resolve: (String, Int) throws(EventLoopError) -> [SocketAddress] = Resolver.addresses
    ) throws(AMQPError) -> [BrokerTarget] {
        let addresses: [SocketAddress]
        do throws(EventLoopError) {
            addresses = try resolve(endpoint.host, endpoint.port)
        } catch {
            throw AMQPError(.unresolved, "cannot look up \(endpoint.host): \(error.message)")
        }
        let tls = endpoint.useTLS ? try context(endpoint.tls) : nil
        return addresses.map { BrokerTarget(endpoint: endpoint, address: $0, tls: tls) }
    }

    private static func context(_ files: AMQPTLSFiles) throws(AMQPError) -> TLSContext {
        do throws(TLSError) {
            let trust = TrustRoots(systemRoots: files.caFile == nil, files: files.caFile.map { [$0] } ?? [])
            var identity: CertificateIdentity?
            if let certificate = files.certFile {
                identity = try CertificateIdentity(
                    certificateFile: certificate, keyFile: files.keyFile ?? certificate)
            }
            return try TLSContext.client(trust: trust, identity: identity, applicationProtocols: [])
        } catch {
            throw AMQPError(.tls, error.message)
        }
    }
}
