import Glibc

/// Asks a server of this machine whether it is there.
package enum Probe {
    /// Whether a port on 127.0.0.1 accepts a connection and, if a greeting is given, answers it.
    ///
    /// - Parameters:
    ///   - port: The port number.
    ///   - greeting: What to say first. The first byte of the answer must come within 2 s. `nil`: connecting is enough.
    /// - Returns: Whether the server answered.
    package static func answers(port: Int, greeting: [UInt8]? = nil) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard FreePort.withLoopback(port: port, { connect(descriptor, $0, $1) }) == 0 else { return false }
        guard let greeting else { return true }
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard send(descriptor, greeting, greeting.count, Int32(MSG_NOSIGNAL)) == greeting.count else {
            return false
        }
        var first: UInt8 = 0
        return recv(descriptor, &first, 1, 0) == 1
    }
}
