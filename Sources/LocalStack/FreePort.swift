import Glibc

/// Finds TCP ports that nobody listens on.
package enum FreePort {
    /// Where ports are looked for: below the range that the kernel gives to outgoing connections (32768 and up). So no
    /// passing client takes a free port before its server binds it.
    static let range = 10_240..<32_000

    /// A port of the loopback interface that is free at this moment.
    ///
    /// Another process may still take the port first. The caller then starts its server on another port.
    ///
    /// - Returns: The port number.
    /// - Throws: `LocalStackError` when a hundred random ports are all in use.
    package static func next() throws(LocalStackError) -> Int {
        for _ in 0..<100 {
            let candidate = Int.random(in: range)
            if isFree(candidate) { return candidate }
        }
        throw LocalStackError(
            .system, "no free TCP port found on 127.0.0.1 between \(range.lowerBound) and \(range.upperBound)")
    }

    /// Several different free ports.
    ///
    /// - Parameter count: How many.
    /// - Returns: The port numbers.
    /// - Throws: `LocalStackError` when too few are free.
    package static func several(_ count: Int) throws(LocalStackError) -> [Int] {
        var found: [Int] = []
        while found.count < count {
            let port = try next()
            if !found.contains(port) { found.append(port) }
        }
        return found
    }

    /// Whether a server could bind the port on the loopback interface now.
    ///
    /// - Parameter port: The port number.
    /// - Returns: Whether the port could be bound. It is free again afterwards.
    package static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withLoopback(port: port) { bind(descriptor, $0, $1) } == 0
    }

    /// Calls `body` with the IPv4 loopback address; the pointer must not escape.
    ///
    /// - Parameters:
    ///   - port: The port number.
    ///   - body: What to do with the address and its size.
    /// - Returns: What `body` returned.
    static func withLoopback<Result>(
        port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
