import EventLoop

/// Which proxy a configuration and an environment ask for.
package struct ProxySelection: Sendable {
    private let proxy: HTTPProxy?
    /// What is reached directly; nil where the configuration named the proxy, which then is for all.
    private let exceptions: ProxyExceptions?

    /// A selection that uses the proxy for every host.
    ///
    /// - Parameter proxy: the configured proxy; nil for none.
    package init(always proxy: HTTPProxy?) {
        self.proxy = proxy
        exceptions = nil
    }

    /// A selection as the environment asks for it: not for the hosts of `NO_PROXY`, and never for this machine.
    ///
    /// - Parameters:
    ///   - proxy: the proxy of `HTTPS_PROXY`.
    ///   - exceptions: what `NO_PROXY` says.
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
