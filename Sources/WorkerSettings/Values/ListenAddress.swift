import EventLoop

/// Where a server listens.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A host name or an IP address, without brackets.
    package var host: String
    /// The port; 0 lets the system choose.
    package var port: Int

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { SocketAddress.isLoopback(host: host) }

    /// Makes an address from its parts.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `host:port`, an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
