import EventLoop

/// The connection on which a new version of a credential proves itself.
struct CredentialProof {
    /// The connect for it, while it is under way.
    var request: Int?
    /// The connection, once it is there.
    var connection: APNSConnection?
    /// When it may be tried again; nil unless the last try failed.
    var retryAt: MonotonicTime?
}
