import EventLoop
import PushModel
import RabbitMQ
import Text

/// The address of a broker's management API, completed with the broker's login.
///
/// One password for both needs to be kept in one place only: the file of the broker's password.
enum ManagementAddress {
    /// Completes an address.
    ///
    /// - Parameters:
    ///   - address: `http(s)://user:password@host:port` with percent-encoded user and password. Without a password the
    ///     broker's counts, if the users are the same one and the password stays as secret as on the way to the broker.
    ///     Nil for the broker's host and login with the usual port: 15672, or 15671 with TLS.
    ///   - endpoint: The broker.
    /// - Returns: The address; nil where none is given and a client certificate logs in to the broker.
    static func complete(_ address: SecretText?, beside endpoint: AMQPEndpoint) -> SecretText? {
        let login = "\(PercentText.encode(endpoint.user)):\(PercentText.encode(endpoint.password))"
        guard let address else {
            guard !endpoint.saslExternal else { return nil }
            let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
            return SecretText(endpoint.useTLS ? "https://\(login)@\(host):15671" : "http://\(login)@\(host):15672")
        }
        guard !endpoint.saslExternal, let parts = try? AddressText(address.revealed),
            let user = parts.userInfo, !user.contains(":"),
            PercentText.decode(Array(user.utf8)[...]) == Array(endpoint.user.utf8),
            parts.scheme == "https" || SocketAddress.isLoopback(host: parts.host) || endpoint.isExposed
        else { return address }
        let port = parts.port.map { ":\($0)" } ?? ""
        return SecretText("\(parts.scheme)://\(login)@\(parts.bracketedHost)\(port)\(parts.rest)")
    }
}
