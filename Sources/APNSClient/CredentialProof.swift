import EventLoop

/// The connection on which a new version of a credential proves itself.
struct CredentialProof {
    /// The number of the request for the connection, while the connect is under way.
    var request: Int?
    /// The connection, once it is open.
    var connection: APNSConnection?
    /// When the proof may be tried again; nil unless the last try failed.
    var retryAt: MonotonicTime?
}
