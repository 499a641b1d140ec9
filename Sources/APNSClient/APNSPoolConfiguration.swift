/// How a pool of connections to APNs behaves.
package struct APNSPoolConfiguration: Sendable {
    /// How long a request may stay without an answer.
    package var requestTimeout: Duration
    /// How many connections the pool keeps, or how far their number may grow.
    package var connections: APNSConnectionCount
    /// How long one attempt to connect may take.
    package var connectTimeout: Duration = .seconds(15)
    /// The silence after which a PING is sent; Apple asks for an hour.
    package var pingInterval: Duration
    /// When a connection that gives no sign is asked, and when it gets no more requests.
    package var silence = SilencePatience()
    /// How long a PING may stay unanswered before the connection is given up.
    package var pingTimeout: Duration = .seconds(10)
    /// How long a connection is kept while SETTINGS have not arrived or allow no stream, and no stream is open.
    ///
    /// A healthy server may hold back for a while. A server that is stuck must not keep the pool from opening another
    /// connection until the next PING.
    package var patience: Duration = .seconds(30)
    /// The most open streams on one connection, even if the server allows more. Bounds the memory of the pool.
    package var streamsPerConnection = 1_000
    /// The least time between two connects while nothing fails. Apple wants connections opened one after the other.
    package var openInterval: Duration = .milliseconds(500)
    /// How long all connections must be full before an automatic pool opens another.
    package var growthDelay: Duration = .milliseconds(200)
    /// Whether the only topic of a certificate is left out of requests.
    package var omitsOnlyTopic = false
    /// How long fewer connections must have been enough before an automatic pool closes one.
    package var quietDelay: Duration = .seconds(600)
    /// The most connections of an automatic pool.
    package static let automaticMaximum = 8

    /// A configuration with defaults for everything that is not a parameter here.
    ///
    /// - Parameters:
    ///   - requestTimeout: How long a request may stay without an answer.
    ///   - pingInterval: The silence after which a PING is sent.
    ///   - connections: A fixed number; nil for a number that follows the load, up to `automaticMaximum`.
    package init(
        requestTimeout: Duration = .seconds(30), pingInterval: Duration = .seconds(3_600), connections: Int? = nil
    ) {
        self.requestTimeout = requestTimeout
        self.pingInterval = pingInterval
        self.connections = connections.map { .fixed($0) } ?? .automatic(maximum: Self.automaticMaximum)
    }
}
