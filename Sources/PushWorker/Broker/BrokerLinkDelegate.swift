internal import EventLoop
internal import RabbitMQ

/// Told when a broker connection comes and goes. On the lane's thread.
protocol BrokerLinkDelegate: AMQPSessionDelegate {
    /// A logged-in connection is there; channels can be opened on it.
    func connectionOpened(_ role: BrokerRole, now: MonotonicTime)
    /// One of several addresses leads to no broker; the next one is tried. Told once for each address and reason, however
    /// often they are tried.
    func addressFailed(_ role: BrokerRole, error: AMQPError)
    /// The connection is gone, and with it every channel, delivery and unconfirmed publication.
    func connectionLost(_ role: BrokerRole, error: AMQPError, now: MonotonicTime)
}
