/// What the gateway shows its clients.
package enum ServerCertificateKind: String, Sendable, CaseIterable {
    /// A good certificate of the simulator's authority.
    case good
    /// One of the same authority that has expired.
    case expired
    /// One of the same authority for another host.
    case wrongName = "wrong-name"
    /// One that signed itself.
    case selfSigned = "self-signed"
}
