internal import APNSClient
internal import EventLoop
internal import RabbitMQ

/// The parts of an address such as `https://user:password@host:port/path`, split without interpreting them further.
///
/// [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3)
package struct AddressText: Sendable, Equatable {
    /// The scheme, in lower case.
    package let scheme: String
    /// What stands before `@`, still percent-encoded; nil without `@`. Secret.
    package let userInfo: String?
    /// The host, an IPv6 address without its brackets.
    package let host: String
    /// The port, if written.
    package let port: Int?
    /// The path with what follows it; empty or beginning with `/` or `?` or `#`.
    package let rest: String

    /// Splits an address.
    ///
    /// - Throws: A ``Rejection`` that never quotes the address, because it may carry a password.
    init(_ text: String) throws(Rejection) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
            throw Rejection("an address must not contain spaces or control characters")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw Rejection("not an address: it must begin with a scheme, as in https://")
        }
        scheme = text[..<colon].lowercased()
        let afterScheme = text[text.index(colon, offsetBy: 3)...]
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        rest = String(afterScheme[authority.endIndex...])
        var hostAndPort = authority
        if let at = authority.lastIndex(of: "@") {
            userInfo = String(authority[..<at])
            hostAndPort = authority[authority.index(after: at)...]
        } else {
            userInfo = nil
        }
        (host, port) = try Self.splitHost(hostAndPort)
    }

    /// Splits `host`, `host:port`, `[v6]` or `[v6]:port`.
    static func splitHost(_ text: Substring) throws(Rejection) -> (host: String, port: Int?) {
        let host: Substring
        var tail: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw Rejection("\"[\" without \"]\" in the host") }
            host = text[text.index(after: text.startIndex)..<end]
            tail = text[text.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else { throw Rejection("only a port may follow \"]\"") }
        } else {
            host = text.prefix { $0 != ":" }
            tail = text[host.endIndex...]
        }
        guard !host.isEmpty else { throw Rejection("the host is missing") }
        guard tail.popFirst() != nil else { return (String(host), nil) }
        guard let port = Int(tail), (0...65535).contains(port), tail.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) else {
            throw Rejection("the port must be a number from 0 to 65535")
        }
        return (String(host), port)
    }

    /// The host as it stands in an address: an IPv6 address in brackets.
    package var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}

extension SettingParsers {
    /// The address of an APNs: `https://host` or `https://host:port`, nothing after it.
    static func apnsAddress(_ text: String) throws(Rejection) -> String {
        let address = try AddressText(text)
        guard address.scheme == "https" else { throw Rejection("must begin with https://") }
        guard address.userInfo == nil else { throw Rejection("must not carry a user or password") }
        guard address.rest.isEmpty || address.rest == "/" else {
            throw Rejection("nothing may follow the host and port")
        }
        guard address.port != 0 else { throw Rejection("port 0 cannot be reached") }
        return "https://\(address.bracketedHost):\(address.port ?? 443)"
    }

    /// The address of a management API: `http://` or `https://`, a password only where it stays unread on the way.
    static func managementAddress(_ text: String, allowsPlaintext: Bool) throws(Rejection) -> SecretText {
        let address = try AddressText(text)
        guard ["http", "https"].contains(address.scheme) else { throw Rejection("must begin with http:// or https://") }
        guard !address.rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Rejection("must not carry a query or fragment")
        }
        let isExposed = address.scheme == "http" && !SocketAddress.isLoopback(host: address.host)
        guard allowsPlaintext || !isExposed || address.userInfo == nil else {
            throw Rejection(PlaintextRule.message(host: address.host, secure: "https://"))
        }
        return SecretText(text)
    }

    /// The address of an HTTP proxy, read as the connection will read it.
    static func proxyAddress(_ text: String) throws(Rejection) -> SecretText {
        do throws(APNSClientError) {
            _ = try HTTPProxy.parse(text)
        } catch {
            throw Rejection(error.message)
        }
        return SecretText(text)
    }

    /// An AMQP URI, read as the connection will read it.
    ///
    /// [RabbitMQ URI specification](https://www.rabbitmq.com/docs/uri-spec)
    static func brokerAddress(
        _ text: String, supplementedBy supplements: AMQPEndpoint.Supplements, allowsPlaintext: Bool
    ) throws(Rejection) -> SecretText {
        let endpoint: AMQPEndpoint
        do throws(AMQPError) {
            endpoint = try AMQPEndpoint.parse(uri: text, supplementedBy: supplements)
        } catch {
            throw Rejection(error.message)
        }
        guard allowsPlaintext || !endpoint.isExposed else {
            throw Rejection(PlaintextRule.message(host: endpoint.host, secure: "amqps://"))
        }
        return SecretText(text)
    }

    /// `host:port`, with an IPv6 address in brackets.
    static func listenAddress(_ text: String) throws(Rejection) -> ListenAddress {
        let (host, port) = try AddressText.splitHost(text[...])
        guard let port else { throw Rejection("the port is missing: write host:port, as in 127.0.0.1:9464") }
        return ListenAddress(host: host, port: port)
    }
}
