/// Reads a proxy's answer to CONNECT. Pure: bytes go in, their meaning comes out.
///
/// Errors repeat nothing that the proxy wrote. A hostile or careless proxy might echo the password.
struct ProxyTunnelStateMachine: Sendable {
    /// What is known after some bytes.
    enum Progress: Sendable, Equatable {
        /// The answer goes on.
        case needsMore
        /// The tunnel is open; TLS may begin.
        case open
        /// The proxy refused with this status.
        case refused(Int)
        /// This is not an answer to CONNECT, for the reason given.
        case malformed(String)
    }

    /// Most bytes of an answer's head, interim ones included. Proxies send a few hundred.
    static let headLimit = 16_384

    private var head: [UInt8] = []
    private var total = 0

    /// Starts before the first byte.
    init() {}

    /// Takes bytes as they arrive.
    ///
    /// - Parameter bytes: The next bytes of the connection.
    /// - Returns: What they mean. Only after `needsMore` may more bytes be passed in.
    mutating func receive(_ bytes: Span<UInt8>) -> Progress {
        for index in 0..<bytes.count {
            total += 1
            guard total <= Self.headLimit else { return .malformed("its answer has no end") }
            head.append(bytes[index])
            guard bytes[index] == UInt8(ascii: "\n"), isComplete else { continue }
            guard let status = Self.status(of: head) else { return .malformed("its answer is not HTTP") }
            switch status {
            case 100..<200 where status != 101: head.removeAll(keepingCapacity: true)
            case 200..<300:
                // In TLS the client speaks first, so nothing can have come through the tunnel yet.
                return index + 1 == bytes.count ? .open : .malformed("it sent data before there was a tunnel")
            default: return .refused(status)
            }
        }
        // A peer with another protocol is recognised before it has filled the limit.
        return Self.mayBecomeHTTP(head) ? .needsMore : .malformed("its answer is not HTTP")
    }

    /// Whether the last line is empty. Lines end with or without a carriage return (RFC 9112, section 2.2).
    private var isComplete: Bool {
        var ends = head.count - 1
        if ends > 0, head[ends - 1] == UInt8(ascii: "\r") { ends -= 1 }
        return ends > 0 && head[ends - 1] == UInt8(ascii: "\n")
    }

    private static let version = Array("HTTP/1.".utf8)

    private static func mayBecomeHTTP(_ head: [UInt8]) -> Bool { zip(head, version).allSatisfy { $0 == $1 } }

    /// The status of `HTTP/1.1 200 …`; nil for anything else.
    private static func status(of head: [UInt8]) -> Int? {
        guard head.count >= 13, mayBecomeHTTP(head), head[8] == UInt8(ascii: " "),
            head[7] == UInt8(ascii: "0") || head[7] == UInt8(ascii: "1"),
            let status = DecimalText.number(head.span.extracting(9..<12)), status >= 100,
            [UInt8(ascii: " "), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(head[12])
        else { return nil }
        return Int(status)
    }
}

extension ProxyTunnelStateMachine {
    /// The request that asks for a tunnel (RFC 9112, section 3.2.3).
    ///
    /// - Parameters:
    ///   - endpoint: Where the tunnel leads.
    ///   - credentials: User and password in Base64; nil if the proxy's address has none.
    /// - Returns: The bytes to send.
    static func request(to endpoint: APNSEndpoint, credentials: [UInt8]?) -> [UInt8] {
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        let target = "\(host):\(endpoint.port)"
        var request = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n".utf8)
        if let credentials {
            request += Array("Proxy-Authorization: Basic ".utf8) + credentials + Array("\r\n".utf8)
        }
        return request + Array("\r\n".utf8)
    }

    /// The error for a refusal of the proxy. It says why the proxy refused, and what to do.
    ///
    /// - Parameters:
    ///   - status: The HTTP status of the proxy's answer.
    ///   - proxy: The proxy.
    ///   - endpoint: Where the tunnel should have led.
    static func error(status: Int, from proxy: HTTPProxy, to endpoint: APNSEndpoint) -> APNSClientError {
        switch status {
        case 407 where proxy.credentials == nil:
            APNSClientError(
                .proxyDenied, "the proxy \(proxy) asks who is there (407): write user and password into its address")
        case 407:
            APNSClientError(.proxyDenied, "the proxy \(proxy) refuses the configured user and password (407)")
        case 401, 403, 405:
            APNSClientError(
                .proxyDenied,
                "the proxy \(proxy) does not allow a tunnel to \(endpoint.host) port \(endpoint.port) (\(status)): "
                    + "have it allowed there")
        case 500...:
            APNSClientError(
                .proxy,
                "the proxy \(proxy) cannot reach \(endpoint.host) port \(endpoint.port) (\(status))")
        default:
            APNSClientError(
                .proxy, "the proxy \(proxy) answered \(status) to CONNECT; is it an HTTP proxy?")
        }
    }
}
