import HTTP2
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
        nghttp2 \(HTTP2LibraryInfo.version)
        \(TLSLibrary.version)
        """
    }

    /// The same as labels of a metric.
    static var parts: [(String, String)] {
        [
            ("version", number), ("rabbitmq_c", RabbitMQLibrary.version), ("nghttp2", HTTP2LibraryInfo.version),
            ("openssl", TLSLibrary.version),
        ]
    }
}
