import Glibc

/// Single messages to a unix datagram socket (unix(7)) that another process reads.
package enum UnixDatagram {
    /// The most bytes of an address, `@` included: one less than the system's structure holds, for the zero behind a
    /// path.
    static let longestAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Sends one message on a socket of its own, without waiting.
    ///
    /// - Parameters:
    ///   - text: The message.
    ///   - address: An absolute path, or `@` and a name in the abstract namespace.
    /// - Throws: `EventLoopError` when the address is malformed, nobody listens there, or its reader is behind.
    package static func send(_ text: String, to address: String) throws(EventLoopError) {
        guard address.hasPrefix("/") || address.hasPrefix("@"), (2...longestAddress).contains(address.utf8.count) else {
            throw EventLoopError(
                .systemCall,
                message: "\(address): neither an absolute path nor a name with @, of 2 to \(longestAddress) bytes",
                isRetriable: false)
        }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw EventLoopError(.systemCall, "socket", errno: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = withSocketAddress(address) { place, length in
            retryingInterrupted {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), place, length)
            }
        }
        guard count == bytes.count else { throw EventLoopError(.systemCall, "sending to \(address)", errno: errno) }
    }

    /// Lends an address in the form that system calls take; the pointer must not escape.
    private static func withSocketAddress<Result>(
        _ address: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &place.sun_path) { path in
            path.copyBytes(from: address.utf8)
            // A zero in the first byte means the abstract namespace.
            if address.hasPrefix("@") { path[0] = 0 }
        }
        let offset = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? MemoryLayout<sa_family_t>.size
        // The length of a path includes the zero behind it. A name in the abstract namespace has no zero behind it.
        let length = offset + address.utf8.count + (address.hasPrefix("@") ? 0 : 1)
        return withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }
}
