import EventLoop

/// Which proxy a configuration and an environment ask for.
package struct ProxySelection: Sendable {
    private let proxy: HTTPProxy?
    /// The hosts that are reached directly; nil if the configuration names the proxy. That proxy is used for all hosts.
    private let exceptions: ProxyExceptions?

    /// A selection that uses the proxy for every host.
    ///
    /// - Parameter proxy: The configured proxy; nil for none.
    package init(always proxy: HTTPProxy?) {
        self.proxy = proxy
        exceptions = nil
    }

    /// A selection as the environment asks for it. The proxy is not used for the hosts of `NO_PROXY`, and never for
    /// this machine.
    ///
    /// - Parameters:
    ///   - proxy: The proxy of `HTTPS_PROXY`.
    ///   - exceptions: What `NO_PROXY` says.
    package init(_ proxy: HTTPProxy, except exceptions: ProxyExceptions) {
        self.proxy = proxy
        self.exceptions = exceptions
    }

    /// The proxy to use towards an APNs; nil for a direct connection.
    package func proxy(for endpoint: APNSEndpoint) -> HTTPProxy? {
        guard let exceptions else { return proxy }
        let isThisMachine =
            endpoint.host.lowercased() == "localhost"
            || SocketAddress(endpoint.host, port: endpoint.port)?.isLoopback == true
        return isThisMachine || exceptions.contains(endpoint) ? nil : proxy
    }
}
