package import APNSClient
import PushModel

extension APNSConfiguration {
    /// The proxy on the way to an APNs; nil for a direct connection.
    ///
    /// - Throws: `APNSClientError` where the configured address is malformed, which the loader has ruled out.
    package func proxy(for endpoint: APNSEndpoint) throws(APNSClientError) -> HTTPProxy? {
        guard let proxy else { return nil }
        let parsed = try HTTPProxy.parse(proxy.address.revealed)
        guard let exceptions = proxy.exceptions else { return parsed }
        return ProxySelection(parsed, except: ProxyExceptions(exceptions)).proxy(for: endpoint)
    }
}
