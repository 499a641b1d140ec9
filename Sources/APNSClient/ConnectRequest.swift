package import EventLoop

/// A pool's request for another connection.
package struct ConnectRequest: Hashable, Sendable {
    /// The request's number within its pool.
    package let id: Int
    /// Addresses to use only if there are no others: those in use and those that kept silent.
    package let avoiding: Set<SocketAddress>
    /// How long the attempt may take in all.
    package let timeout: Duration
    /// The credential for the connection; nil for none.
    package let credential: APNSCredential?

    /// A request from its parts.
    package init(id: Int, avoiding: Set<SocketAddress>, timeout: Duration, credential: APNSCredential? = nil) {
        self.id = id
        self.avoiding = avoiding
        self.timeout = timeout
        self.credential = credential
    }

    /// Whether both are the same request of one pool.
    package static func == (left: ConnectRequest, right: ConnectRequest) -> Bool { left.id == right.id }

    /// Adds the request's number to a hash.
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
