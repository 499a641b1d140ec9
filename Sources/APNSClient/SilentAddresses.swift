import EventLoop

/// Addresses at which a server kept silent or failed again and again. New connections avoid them for a while.
struct SilentAddresses {
    /// For how long an address is avoided.
    private static let memory = Duration.seconds(600)

    private var ends: [SocketAddress: MonotonicTime] = [:]

    /// A server at this address kept silent or failed again and again.
    mutating func note(_ address: SocketAddress, now: MonotonicTime) { ends[address] = now + Self.memory }

    /// The addresses to avoid now. Forgets the addresses whose time is over.
    mutating func current(now: MonotonicTime) -> some Collection<SocketAddress> {
        ends = ends.filter { $0.value > now }
        return ends.keys
    }
}
