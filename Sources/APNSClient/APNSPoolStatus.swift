package import EventLoop

/// What a pool looks like at a moment, for readiness and metrics.
package struct APNSPoolStatus: Sendable {
    /// Whether APNs can be reached, as `APNSPool.isConnected` says.
    package var isConnected: Bool?
    /// Connects under way.
    package var connecting = 0
    /// Connections that wait for SETTINGS.
    package var settling = 0
    /// Connections on which no answer has let the credential pass yet.
    package var proving = 0
    /// Connections that take as many requests as the server allows.
    package var open = 0
    /// Connections that take no more requests and finish their open ones.
    package var draining = 0
    /// How many connections are wanted.
    package var wanted = 0
    /// Requests without an answer yet.
    package var openStreams = 0
    /// Requests that may be open at once.
    package var streamLimit = 0
    /// Failures since a connection last answered its first request.
    package var failures = 0
    /// Connections opened since the start.
    package var opened = 0
    /// Connections that ended with an error since the start. The end after a GOAWAY counts as an error.
    package var lost = 0
    /// Connections that the server ended with GOAWAY since the start.
    package var goAways = 0
    /// Requests that ran out of time since the start.
    package var timeouts = 0
    /// The addresses in use.
    package var addresses: [SocketAddress] = []
    /// Why the last connection could not be made or was lost; nil once a new connection has answered. Also why no token
    /// could be signed.
    package var lastError: APNSClientError?
    /// The limit that keeps the pool from taking more requests.
    package var limit = APNSPoolLimit.nothing
    /// The shortest measured round trip of the slowest connection; zero while none is measured.
    package var roundTrip = Duration.zero
    /// How far our clock is ahead of the server's, in seconds; nil before a `date` header arrived.
    package var clockSkew: Int64?
}
