import APNSClient
import EventLoop
import TLS

/// Connects to an APNs in the steps of a worker: name, proxy, connection, certificate, protocol. It sends no request.
enum APNSProbe {
    /// The step that failed.
    struct Failure: Error {
        /// What happened.
        var detail: String
        /// What to do about it.
        var remedy: String
    }

    /// Connects once, to the first address that answers.
    ///
    /// - Parameters:
    ///   - endpoint: The APNs.
    ///   - proxy: The proxy on the way; nil for a direct connection.
    ///   - trust: The authorities that may vouch for the server.
    ///   - timeout: How long all addresses together may take.
    /// - Returns: The address or the proxy, and the protocols, in words.
    /// - Throws: The step that failed, with its remedy.
    static func reach(
        _ endpoint: APNSEndpoint, through proxy: HTTPProxy?, trust: TrustRoots, timeout: Duration
    ) throws(Failure) -> String {
        do throws(APNSClientError) {
            let connector = APNSConnector(
                endpoint: endpoint, trust: try context(trust), limiter: ConnectRateLimiter(), proxy: proxy)
            let connection = try connector.connect(avoiding: [], timeout: timeout)
            let way = proxy.map { "through the proxy \($0)" } ?? "\(connection.address)"
            return "\(way), \(connection.protocolVersion), HTTP/2"
        } catch {
            throw Failure(detail: error.message, remedy: remedy(for: error.code, hasProxy: proxy != nil))
        }
    }

    private static func context(_ trust: TrustRoots) throws(APNSClientError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext.client(trust: trust, identity: nil, applicationProtocols: ["h2"])
        } catch {
            throw APNSClientError(.untrusted, error.message)
        }
    }

    private static func remedy(for code: APNSClientError.Code, hasProxy: Bool) -> String {
        switch code {
        case .proxy, .proxyDenied: proxyRemedy
        case .unreachable where hasProxy, .timedOut where hasProxy: proxyRemedy
        case .unreachable, .timedOut:
            "Check the host name, this machine's DNS, and that a firewall lets connections to it out; "
                + "where a proxy is the only way out, set apns.proxy."
        case .untrusted, .tls:
            "For a simulator or a proxy that opens TLS set apns.trust_file to its authority's certificate."
        default: "Something between here and APNs interferes: a proxy that opens TLS, or a wrong port."
        }
    }

    private static let proxyRemedy =
        "Check apns.proxy or, where that is not set, HTTPS_PROXY and NO_PROXY: its address, user and password, and "
        + "that it allows CONNECT to APNs."
}
