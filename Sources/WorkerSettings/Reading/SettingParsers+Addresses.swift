import APNSClient
import EventLoop
import PushModel
import RabbitMQ

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
