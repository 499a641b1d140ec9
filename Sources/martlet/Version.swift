import RabbitMQ
import TLS

/// What `martlet --version` says; complete enough for a bug report.
enum Version {
    /// The version of Martlet.
    static let number = "0.1.0"

    /// The version of Martlet and those of the C libraries it runs on.
    static var text: String {
        """
        martlet \(number)
        rabbitmq-c \(RabbitMQLibrary.version)
        \(TLSLibrary.version)
        """
    }
}
