/// How a pool of connections to APNs behaves.
package struct APNSPoolConfiguration: Sendable {
    /// How long a request may stay without an answer.
    package var requestTimeout: Duration
    /// How many connections, or how far their number may grow.
    package var connections: APNSConnectionCount
    /// How long one attempt to connect may take.
    package var connectTimeout: Duration = .seconds(15)
    /// The silence after which a PING is sent; Apple asks for an hour.
    package var pingInterval: Duration
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
