package import EventLoop

/// How a pool of connections to APNs behaves.
package struct APNSPoolConfiguration: Sendable {
    /// How long a request may stay without an answer.
    package var requestTimeout: Duration
    /// How many connections, or how far their number may grow.
    package var connections: APNSConnectionCount
    /// How long one attempt to connect may take.
    package var connectTimeout: Duration = .seconds(15)
    /// The silence after which a PING is sent; Apple asks for an hour.
    package var pingInterval: Duration = .seconds(3_600)
    /// How long a PING may stay unanswered before the connection is given up.
    package var pingTimeout: Duration = .seconds(10)
    /// How long a connection is kept that takes no request, because SETTINGS do not come or allow no stream. A server
    /// may hold back for a while. One that is stuck would keep its pool from looking for another until the next PING.
    package var patience: Duration = .seconds(30)
    /// Most open streams on one connection, whatever the server allows. Bounds the memory of the pool.
    package var streamsPerConnection = 1_000
    /// The least time between two connects while nothing fails, because Apple wants connections opened one after the
    /// other.
    package var openInterval: Duration = .milliseconds(500)
    /// How long all connections must be full before an automatic pool opens another.
    package var growthDelay: Duration = .milliseconds(200)
    /// Whether the only topic of a certificate is left out of requests.
    package var omitsOnlyTopic = false
    /// How long a connection must have been unneeded before an automatic pool closes it.
    package var quietDelay: Duration = .seconds(600)
    /// The most connections of an automatic pool.
    package static let automaticMaximum = 8

    /// A configuration with the defaults for everything not named here.
    ///
    /// - Parameters:
    ///   - requestTimeout: How long a request may stay without an answer.
    ///   - connections: A fixed number; nil for a number that follows the load, up to `automaticMaximum`.
    package init(requestTimeout: Duration = .seconds(30), connections: Int? = nil) {
        self.requestTimeout = requestTimeout
        self.connections = connections.map { .fixed($0) } ?? .automatic(maximum: Self.automaticMaximum)
    }
}

/// What a pool looks like at a moment, for readiness and metrics.
package struct APNSPoolStatus: Sendable {
    /// Whether APNs can be reached, as `APNSPool.isConnected` says.
    package var isConnected: Bool?
    /// Connects under way.
    package var connecting = 0
    /// Connections that wait for SETTINGS.
    package var settling = 0
    /// Connections whose token no answer has confirmed yet.
    package var proving = 0
    /// Connections that take as many requests as the server allows.
    package var open = 0
    /// Connections that finish what they have.
    package var draining = 0
    /// How many connections are wanted.
    package var wanted = 0
    /// Requests without an answer yet.
    package var openStreams = 0
    /// Requests that may be open at once.
    package var streamLimit = 0
    /// Failures since something was answered last.
    package var failures = 0
    /// Connections opened since the start.
    package var opened = 0
    /// Connections that ended since the start although we did not want it.
    package var lost = 0
    /// Connections that the server ended with GOAWAY since the start.
    package var goAways = 0
    /// Requests that ran out of time since the start.
    package var timeouts = 0
    /// The addresses in use.
    package var addresses: [SocketAddress] = []
    /// Why the last connection could not be made or was lost; nil once one works again.
    package var lastError: APNSClientError?
    /// The limit that keeps the pool from taking more requests.
    package var limit = APNSPoolLimit.nothing
    /// The shortest measured round trip of the slowest connection; zero while none is measured.
    package var roundTrip = Duration.zero
    /// How far our clock is ahead of the server's, in seconds; nil before a `date` header arrived.
    package var clockSkew: Int64?
}
