import EventLoop
import Text

/// Where a broker is and how to log in to it.
///
/// Every textual form leaves the password out, so an endpoint may be logged.
package struct AMQPEndpoint: Sendable, Equatable {
    /// The host name or address literal, without brackets.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// Whether the connection is encrypted; the peer's certificate is then always verified.
    package var useTLS: Bool
    /// The user name.
    package var user: String = "guest"
    /// The password.
    package var password: String = "guest"
    /// The virtual host.
    package var virtualHost: String = "/"
    /// The heartbeat interval asked for, in seconds.
    package var heartbeat: Int = 15
    /// How long each step may take: the TCP connection, the TLS handshake, the login.
    package var connectionTimeout: Duration = .seconds(10)
    /// The number of channels asked for.
    package var channelMax: Int = 256
    /// The largest frame asked for, in bytes.
    package var frameMax: Int = 131_072
    /// The certificate files, for TLS.
    package var tls = AMQPTLSFiles()
    /// The name to send (SNI) and to check in the peer's certificate; `host` if nil.
    package var serverName: String?
    /// Whether to log in by client certificate (SASL EXTERNAL) instead of user and password.
    package var saslExternal = false

    /// The user and the place, without the password: `user@host:port/virtual-host`.
    ///
    /// The virtual host is percent-encoded. There is no `user@` where the client certificate logs in.
    package var place: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(saslExternal ? "" : "\(user)@")\(name):\(port)/\(PercentText.encode(virtualHost))"
    }

    /// An endpoint with default login.
    ///
    /// - Parameters:
    ///   - host: The host name or address literal.
    ///   - port: The TCP port; by default 5672, or 5671 with TLS.
    ///   - useTLS: Whether the connection is encrypted.
    package init(host: String, port: Int? = nil, useTLS: Bool = false) {
        self.host = host
        self.port = port ?? (useTLS ? 5671 : 5672)
        self.useTLS = useTLS
    }

    /// Whether the login and all messages leave this machine unencrypted, so that others can read them.
    package var isExposed: Bool { !useTLS && !SocketAddress.isLoopback(host: host) }

    /// What is wrong with the addresses of one broker; nil if nothing is. Jobs, results and retries would be in
    /// different virtual hosts, because each connection takes any of the addresses.
    ///
    /// - Parameter endpoints: The addresses.
    package static func mistake(among endpoints: [AMQPEndpoint]) -> String? {
        guard let first = endpoints.first, let other = endpoints.first(where: { $0.virtualHost != first.virtualHost })
        else { return nil }
        return
            "the addresses name the virtual hosts \"\(first.virtualHost)\" and \"\(other.virtualHost)\": all addresses of "
            + "a broker have one virtual host"
    }

    /// The URI with `***` in place of the password.
    package var redactedDescription: String {
        let login = saslExternal ? "" : "\(PercentText.encode(user)):***@"
        let shownHost = host.contains(":") ? "[\(host)]" : host
        return "\(useTLS ? "amqps" : "amqp")://\(login)\(shownHost):\(port)/\(PercentText.encode(virtualHost))"
    }
}

extension AMQPEndpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The redacted URI.
    package var description: String { redactedDescription }
    /// The redacted URI.
    package var debugDescription: String { redactedDescription }
    /// Shows the redacted URI only, so that `dump` cannot print the password.
    package var customMirror: Mirror { Mirror(self, children: ["uri": redactedDescription]) }
}
