/// What went wrong between this process and a RabbitMQ broker, in words a person can act on.
///
/// Messages never contain passwords, message bodies or header values.
package struct AMQPError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; open, so that new kinds do not break a `switch`.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name of the kind.
        package var rawValue: String

        /// Names a kind.
        ///
        /// - Parameter rawValue: The stable name of the kind.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The URI cannot be used as written.
        package static let invalidURI = Code(rawValue: "invalid_uri")
        /// No address of the broker's host name was found.
        package static let unresolved = Code(rawValue: "unresolved")
        /// No connection could be made, or not in time.
        package static let unreachable = Code(rawValue: "unreachable")
        /// TLS could not be set up, or the peer's certificate was not acceptable.
        package static let tls = Code(rawValue: "tls")
        /// The broker refused user, password, virtual host or permission (403, 530), the kind of login, or a report.
        package static let refused = Code(rawValue: "refused")
        /// The broker's configuration allows too small frames or too few channels.
        package static let unsuitable = Code(rawValue: "unsuitable")
        /// The broker closed the connection.
        package static let connectionClosed = Code(rawValue: "connection_closed")
        /// The broker closed the channel.
        package static let channelClosed = Code(rawValue: "channel_closed")
        /// The connection broke off, or was used after its end.
        package static let connectionLost = Code(rawValue: "connection_lost")
        /// Nothing was heard from the broker for two heartbeats.
        package static let heartbeatTimeout = Code(rawValue: "heartbeat_timeout")
        /// An answer did not arrive in time.
        package static let timeout = Code(rawValue: "timeout")
        /// The peer sent something that the protocol does not allow here.
        package static let protocolViolation = Code(rawValue: "protocol_violation")
        /// A property list or field table is damaged, too deep or too large.
        package static let malformedTable = Code(rawValue: "malformed_table")
        /// The message cannot be written in AMQP 0-9-1; nothing of it was sent and the connection is intact.
        package static let invalidMessage = Code(rawValue: "invalid_message")
        /// A request could not be written without waiting for the peer.
        package static let wouldBlock = Code(rawValue: "would_block")
        /// The library ran out of memory or refused its arguments.
        package static let library = Code(rawValue: "library")
    }

    /// The kind of failure.
    package var code: Code
    /// What happened and, where known, what to do about it.
    package var message: String
    /// The broker's reply code (AMQP 0-9-1, 1.1), where the broker gave one.
    package var replyCode: UInt16?

    /// The kind of failure with the broker's reply code, for comparing failures.
    ///
    /// `message` does not serve for that, because it may name the address that was tried.
    package var kind: String { replyCode.map { "\(code.rawValue) \($0)" } ?? code.rawValue }

    /// Whether the same attempt may succeed later without a change of configuration.
    package var isRetriable: Bool {
        switch code {
        case .invalidURI, .malformedTable, .invalidMessage, .library: false
        default: true
        }
    }

    /// The message, followed by the broker's reply code where there is one.
    package var description: String {
        guard let replyCode else { return message }
        return "\(message) (reply code \(replyCode))"
    }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened; without secrets.
    ///   - replyCode: The broker's reply code, if it gave one.
    package init(_ code: Code, _ message: String, replyCode: UInt16? = nil) {
        self.code = code
        self.message = message
        self.replyCode = replyCode
    }

    /// An error about something that a broker must not send.
    ///
    /// - Parameter what: What was sent, to follow "the broker sent".
    /// - Returns: A `protocolViolation`.
    static func brokerSent(_ what: String) -> AMQPError { AMQPError(.protocolViolation, "the broker sent \(what)") }
}
