import HTTP2
import RabbitMQ
import TLS

/// The versions that `martlet --version` prints, complete enough for a bug report.
enum Version {
    /// The version of Martlet.
    static let number = "0.1.0"

    /// The versions of Martlet and of the C libraries that it uses.
    static var text: String {
        """
        martlet \(number)
        rabbitmq-c \(RabbitMQLibrary.version)
        nghttp2 \(HTTP2LibraryInfo.version)
        \(TLSLibrary.version)
        """
    }

    /// The same versions as labels of a metric.
    static var parts: [(String, String)] {
        [
            ("version", number), ("rabbitmq_c", RabbitMQLibrary.version), ("nghttp2", HTTP2LibraryInfo.version),
            ("openssl", TLSLibrary.version),
        ]
    }
}
