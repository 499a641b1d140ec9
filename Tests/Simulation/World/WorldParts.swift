import TLS
import TestSupport

/// What all worlds of a process share, because it takes long to make and no world can tell.
struct WorldParts: Sendable {
    static let shared = WorldParts()

    /// What workers trust.
    let trust: TrustRoots
    let server, client: TLSContext

    private init() {
        do {
            let certificates = try ThrowawayCertificates()
            trust = certificates.trust
            server = try certificates.serverContext()
            client = try certificates.clientContext()
        } catch {
            fatalError("OpenSSL makes no certificates: \(error)")
        }
    }
}
