import Glibc

/// A unix datagram socket that a test reads, as a service manager does.
package final class DatagramReader: Sendable {
    /// Where it listens: a path, or `@` and a name.
    package let address: String
    private let descriptor: Int32

    /// Listens at a name that nobody else has.
    package convenience init(isAbstract: Bool) {
        let name = "martlet-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        self.init(address: isAbstract ? "@\(name)" : "/tmp/\(name)")
    }

    /// Listens at an address.
    package init(address: String) {
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &place.sun_path) { path in
            path.copyBytes(from: address.utf8)
            if address.hasPrefix("@") { path[0] = 0 }
        }
        let length = socklen_t(2 + address.utf8.count + (address.hasPrefix("@") ? 0 : 1))
        let isBound = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        precondition(isBound, "no socket at \(address)")
    }

    deinit {
        close(descriptor)
        if address.hasPrefix("/") { unlink(address) }
    }

    /// Whether a message is there.
    package var hasNext: Bool { isReadable(within: 0) }

    /// Waits for the next message, for 50 s at most.
    ///
    /// - Returns: Its text; nil when none came.
    package func next() -> String? {
        guard isReadable(within: 50_000) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    private func isReadable(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) == 1
    }
}
