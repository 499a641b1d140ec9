import EventLoop

/// Knows the addresses of hosts; a value of its own, for two closures in one call could be mistaken for each other.
struct NameServer: Sendable {
    var lookUp: @Sendable (String, Int) throws(EventLoopError) -> [SocketAddress]
}
