package import EventLoop
import Synchronization

/// A pool's request for another connection.
package struct ConnectRequest: Hashable, Sendable {
    /// A number that no other request of the process has, so that no other pool adopts a late connection.
    package let id: Int
    /// Addresses to use only if no other address works: those in use, and those of servers that kept silent or failed.
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

    /// A number that no request has yet. A route may close its pool and open another one. The number keeps the new pool
    /// from adopting a late connection of the old pool.
    static func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    private static let lastNumber = Atomic<Int>(0)

    /// Whether both are the same request.
    package static func == (left: ConnectRequest, right: ConnectRequest) -> Bool { left.id == right.id }

    /// Adds the request's number to a hash.
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
