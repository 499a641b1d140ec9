import BrokerClient
import EventLoop
import LocalStack

@testable import RabbitMQ

/// A RabbitMQ that the tests of this module share, started when first needed.
enum LiveBroker {
    private static let started = Result { try PrivateBroker.start() }

    static var broker: PrivateBroker { get throws { try started.get() } }

    static var endpoint: AMQPEndpoint { get throws { try AMQPEndpoint.parse(uri: broker.uri) } }

    static func client(patience: Duration = .seconds(30)) throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(endpoint, clientName: "test", patience: patience)
    }

    /// A name no other test uses.
    static func name(_ what: String) -> String { "\(what).\(UInt32.random(in: 0 ..< .max))" }
}
