import EventLoop
import RabbitMQ

/// Is told when a broker connection comes and goes. Called on the lane's thread.
protocol BrokerLinkDelegate: AMQPSessionDelegate {
    /// The connection is logged in. Channels can be opened on it.
    func connectionOpened(_ role: BrokerLink.Role, now: MonotonicTime)
    /// No broker could be reached at one of several addresses; the next one is tried. Not repeated while an address
    /// keeps failing for the same reason.
    func addressFailed(_ role: BrokerLink.Role, error: AMQPError)
    /// The connection is gone, and with it every channel, delivery and unconfirmed publication.
    func connectionLost(_ role: BrokerLink.Role, error: AMQPError, now: MonotonicTime)
}
