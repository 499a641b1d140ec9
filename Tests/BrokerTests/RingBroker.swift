import LocalStack

/// The one RabbitMQ of these suites; each has a virtual host of its own on it, because the contract fixes all names.
enum RingBroker {
    /// Started with the first suite that asks for it.
    static let broker = Result<PrivateBroker, any Error> { try PrivateBroker.start() }
}
