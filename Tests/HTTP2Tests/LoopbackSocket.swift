import Glibc

/// A blocking TCP socket on 127.0.0.1 that gives up after ten seconds of silence.
final class LoopbackSocket {
    private let descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Listens on a free port.
    static func listening() throws -> (socket: LoopbackSocket, port: UInt16) {
        let socket = LoopbackSocket(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket.descriptor, address, size) | listen(socket.descriptor, 4)
                    | getsockname(socket.descriptor, address, &size)
            }
        }
        guard result == 0 else { throw LoopbackError(call: "listen") }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// Waits for the next connection.
    func accept() throws -> LoopbackSocket {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw LoopbackError(call: "accept") }
        return LoopbackSocket(owning: accepted)
    }

    /// Connects, trying again for ten seconds while nobody listens yet.
    static func connected(port: UInt16) throws -> LoopbackSocket {
        for _ in 0..<1000 {
            let socket = LoopbackSocket(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            var address = loopback(port: port)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return socket }
            // The program is still starting: this waits for it, up to 10 ms at a time.
            poll(nil, 0, 10)
        }
        throw LoopbackError(call: "connect")
    }

    /// Reads what is there; empty at the end of the connection.
    func read() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { return [] }
        guard count >= 0 else { throw LoopbackError(call: "recv") }
        return Array(buffer.prefix(count))
    }

    /// Writes everything.
    func write(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(
                    descriptor, buffer.baseAddress.map { $0 + start }, bytes.count - start, Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { throw LoopbackError(call: "send") }
            start += count
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
