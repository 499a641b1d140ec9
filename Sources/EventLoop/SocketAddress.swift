import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: Hashable {
        /// The address as a number, most significant byte first.
        case version4(UInt32)
        /// The address as two numbers, most significant byte first, and the interface of a link-local address.
        case version6(UInt64, UInt64, scope: UInt32)
    }

    private let kind: Kind
    /// The port; a listener takes 0 for any free port.
    package let port: Int

    /// Reads a numeric address; `Resolver` looks up names.
    ///
    /// - Parameters:
    ///   - literal: `127.0.0.1`, `::1` or `[::1]`; nothing else is accepted.
    ///   - port: 0 to 65535.
    package init?(_ literal: String, port: Int) {
        guard (0...65535).contains(port) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, literal, &four) == 1 {
            self.init(kind: .version4(UInt32(bigEndian: four.s_addr)), port: port)
            return
        }
        let bare = literal.hasPrefix("[") && literal.hasSuffix("]") ? String(literal.dropFirst().dropLast()) : literal
        var six = in6_addr()
        guard inet_pton(AF_INET6, bare, &six) == 1 else { return nil }
        self.init(kind: Self.kind(of: six, scope: 0), port: port)
    }

    /// This machine's own address, 127.0.0.1.
    ///
    /// - Parameter port: 0 to 65535.
    /// - Returns: The address.
    package static func loopback(port: Int) -> SocketAddress {
        precondition((0...65535).contains(port), "port out of range")
        return SocketAddress(kind: .version4(0x7f00_0001), port: port)
    }

    private init(kind: Kind, port: Int) {
        self.kind = kind
        self.port = port
    }

    /// Whether only this machine answers there: 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped to IPv6.
    package var isLoopback: Bool {
        switch kind {
        case .version4(let address): address >> 24 == 127
        case .version6(0, let low, _): low == 1 || low >> 24 == 0xffff_7f
        case .version6: false
        }
    }

    /// Whether a host is this machine itself: a loopback address, or `localhost`.
    ///
    /// Names below `localhost` do not count, although RFC 6761 (6.3) reserves them. Some systems ask their DNS server
    /// for them, and the server may answer with any address.
    ///
    /// - Parameter host: A name or an address literal without brackets.
    package static func isLoopback(host: String) -> Bool {
        if let address = SocketAddress(host, port: 0) { return address.isLoopback }
        return host.lowercased() == "localhost"
    }

    /// The address without its port, in the usual text form.
    package var host: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            withSocketAddress { address, _ in
                // The two forms differ in where the address begins.
                let raw = UnsafeRawPointer(address)
                let family = Int32(address.pointee.sa_family)
                let offset = family == AF_INET6 ? 8 : 4
                let text = inet_ntop(family, raw + offset, buffer.baseAddress, socklen_t(buffer.count))
                return text.map { String(cString: $0) } ?? "?"
            }
        }
    }

    /// `127.0.0.1:443` or `[::1]:443`.
    package var description: String {
        if case .version6 = kind { return "[\(host)]:\(port)" }
        return "\(host):\(port)"
    }

    /// The address family for socket(2).
    var family: Int32 {
        if case .version6 = kind { return AF_INET6 }
        return AF_INET
    }

    /// Lends the address in the form that system calls take; the pointer must not escape.
    ///
    /// - Parameter body: Gets the address and its length in bytes.
    /// - Returns: The result of `body`.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        return withUnsafeMutableBytes(of: &storage) { bytes in
            let length: Int
            switch kind {
            case .version4(let address):
                var four = sockaddr_in()
                four.sin_family = sa_family_t(AF_INET)
                four.sin_port = in_port_t(port).bigEndian
                four.sin_addr.s_addr = address.bigEndian
                bytes.storeBytes(of: four, as: sockaddr_in.self)
                length = MemoryLayout<sockaddr_in>.size
            case .version6(let high, let low, let scope):
                var six = sockaddr_in6()
                six.sin6_family = sa_family_t(AF_INET6)
                six.sin6_port = in_port_t(port).bigEndian
                six.sin6_scope_id = scope
                withUnsafeMutableBytes(of: &six.sin6_addr) {
                    $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                    $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
                }
                bytes.storeBytes(of: six, as: sockaddr_in6.self)
                length = MemoryLayout<sockaddr_in6>.size
            }
            return bytes.withMemoryRebound(to: sockaddr.self) { buffer in
                guard let address = buffer.baseAddress else { preconditionFailure("storage without address") }
                return body(address, socklen_t(length))
            }
        }
    }

    /// Reads the address that a system call filled in; nil for families other than IPv4 and IPv6.
    ///
    /// - Parameter bytes: A sockaddr_in or sockaddr_in6.
    init?(reading bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            let four = bytes.loadUnaligned(as: sockaddr_in.self)
            let address = UInt32(bigEndian: four.sin_addr.s_addr)
            self.init(kind: .version4(address), port: Int(UInt16(bigEndian: four.sin_port)))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            let six = bytes.loadUnaligned(as: sockaddr_in6.self)
            let kind = Self.kind(of: six.sin6_addr, scope: six.sin6_scope_id)
            self.init(kind: kind, port: Int(UInt16(bigEndian: six.sin6_port)))
        default:
            return nil
        }
    }

    private static func kind(of address: in6_addr, scope: UInt32) -> Kind {
        withUnsafeBytes(of: address) {
            let high = UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))
            let low = UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            return .version6(high, low, scope: scope)
        }
    }

    /// Asks a socket for its own or its peer's address.
    ///
    /// - Parameter call: Getsockname(2) or getpeername(2) on the socket.
    /// - Returns: The address, nil when the call fails or the socket is not an IP one.
    static func reading(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            let result = bytes.withMemoryRebound(to: sockaddr.self) { buffer in
                buffer.baseAddress.map { call($0, &length) } ?? -1
            }
            guard result == 0, Int(length) <= bytes.count else { return nil }
            return SocketAddress(reading: UnsafeRawBufferPointer(rebasing: bytes[..<Int(length)]))
        }
    }
}
