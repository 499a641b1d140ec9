import Synchronization
import TLS

/// The gateway's certificates, good and bad, and which one is in force. Safe from any thread.
final class ServerCertificates: Sendable {
    /// The host that ``ServerCertificateKind/wrongName`` is for.
    static let otherName = "other.example.net"

    private struct State {
        var kind = ServerCertificateKind.good
        var contexts: [ServerCertificateKind: TLSContext] = [:]
    }

    private let store: CertificateStore
    private let clientTrust: TrustRoots?
    private let clientFault: (@Sendable (PeerCertificate) -> CertificateFault?)?
    private let state = Mutex(State())

    /// Prepares the good certificate.
    ///
    /// - Parameters:
    ///   - store: The authority and the good certificate.
    ///   - clientTrust: Authorities of client certificates; nil asks clients for none.
    ///   - clientFault: Says what is wrong with a certificate whose chain is good. A bad chain or such a fault ends the
    ///     handshake. Nil: the handshake accepts every client.
    /// - Throws: ``SimulatorError`` where TLS cannot be set up.
    init(
        store: CertificateStore, clientTrust: TrustRoots?,
        clientFault: (@Sendable (PeerCertificate) -> CertificateFault?)?
    ) throws(SimulatorError) {
        self.store = store
        self.clientTrust = clientTrust
        self.clientFault = clientFault
        _ = try context(.good)
    }

    /// Shows another certificate from the next connection on.
    ///
    /// - Parameter kind: Which.
    func show(_ kind: ServerCertificateKind) { state.withLock { $0.kind = kind } }

    /// The certificate in force.
    var shown: ServerCertificateKind { state.withLock { $0.kind } }

    /// The TLS settings with a certificate.
    ///
    /// - Parameter wanted: Which; nil for the one in force.
    /// - Returns: The settings, made once for each kind.
    /// - Throws: ``SimulatorError`` where the certificate cannot be made.
    func context(_ wanted: ServerCertificateKind? = nil) throws(SimulatorError) -> TLSContext {
        let kind = wanted ?? shown
        if let known = state.withLock({ $0.contexts[kind] }) { return known }
        let made: TLSContext
        do {
            let identity = try identity(kind)
            if let clientTrust, let clientFault {
                made = try TLSContext.server(
                    identity: identity, applicationProtocols: ["h2"], clientTrust: clientTrust, refusing: clientFault)
            } else if let clientTrust {
                made = try TLSContext.server(
                    identity: identity, applicationProtocols: ["h2"], judgingClientsBy: clientTrust)
            } else {
                made = try TLSContext.server(
                    identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
            }
        } catch {
            throw SimulatorError(.credential, "cannot set TLS up: \(error)")
        }
        state.withLock { $0.contexts[kind] = made }
        return made
    }

    private func identity(_ kind: ServerCertificateKind) throws -> CertificateIdentity {
        let issued: (certificatePEM: [UInt8], keyPEM: [UInt8])
        switch kind {
        case .good: return store.identity
        case .expired:
            issued = try store.authority.issue(
                commonName: "Martlet APNs simulator", names: store.names, days: 1, notBeforeOffset: -172_800)
        case .wrongName:
            issued = try store.authority.issue(commonName: Self.otherName, names: [Self.otherName], days: 30)
        case .selfSigned:
            let lonely = try CertificateAuthority.create(commonName: "localhost")
            issued = (lonely.certificatePEM, lonely.keyPEM)
        }
        return try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
    }
}
