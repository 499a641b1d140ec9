internal import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in network order: 4 or 16 bytes.
    private let bytes: [UInt8]
    /// The scope of a link-local IPv6 address, else 0.
    private let scope: UInt32
    /// The port.
    package let port: Int

    private init(bytes: [UInt8], scope: UInt32 = 0, port: Int) {
        self.bytes = bytes
        self.scope = scope
        self.port = port
    }

    /// 127.0.0.1 with a port; 0 lets the system choose when listening.
    package static func loopback(port: Int) -> SocketAddress { SocketAddress(bytes: [127, 0, 0, 1], port: port) }

    /// Reads an address in digits, IPv6 with or without brackets; nil for names.
    package static func parse(_ text: String, port: Int) -> SocketAddress? {
        var literal = text
        if literal.hasPrefix("["), literal.hasSuffix("]") { literal = String(literal.dropFirst().dropLast()) }
        var four = in_addr()
        if inet_pton(AF_INET, literal, &four) == 1 {
            return SocketAddress(bytes: withUnsafeBytes(of: four) { Array($0) }, port: port)
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, literal, &six) == 1 else { return nil }
        return SocketAddress(bytes: withUnsafeBytes(of: six) { Array($0) }, port: port)
    }

    /// Whether the address never leaves this machine.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The address without its port, in digits.
    package var host: String {
        var text = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package var description: String { bytes.count == 4 ? "\(host):\(port)" : "[\(host)]:\(port)" }

    var family: Int32 { bytes.count == 4 ? AF_INET : AF_INET6 }

    /// Lends the address as the system wants it; it must not outlive the call.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        let length = withUnsafeMutableBytes(of: &storage) { raw -> Int in
            if bytes.count == 4 {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port).bigEndian)
                withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
                withUnsafeBytes(of: address) { raw.copyMemory(from: $0) }
                return MemoryLayout<sockaddr_in>.size
            }
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(UInt16(truncatingIfNeeded: port).bigEndian)
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            withUnsafeBytes(of: address) { raw.copyMemory(from: $0) }
            return MemoryLayout<sockaddr_in6>.size
        }
        return withUnsafePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// Copies a system address; nil for families other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let four = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            self.init(
                bytes: withUnsafeBytes(of: four.sin_addr) { Array($0) }, port: Int(UInt16(bigEndian: four.sin_port)))
        case AF_INET6:
            let six = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            self.init(
                bytes: withUnsafeBytes(of: six.sin6_addr) { Array($0) }, scope: six.sin6_scope_id,
                port: Int(UInt16(bigEndian: six.sin6_port)))
        default: return nil
        }
    }
}

/// Looks up host names; blocks, so only helper threads use it.
package enum Resolver {
    /// All addresses of a host, in the resolver's order; nothing is cached here.
    ///
    /// - Throws: `EventLoopError` with code `unresolved`.
    package static func addresses(host: String, port: Int) throws(EventLoopError) -> [SocketAddress] {
        if let literal = SocketAddress.parse(host, port: port) { return [literal] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = AF_UNSPEC
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw EventLoopError(.unresolved, "\(host) cannot be resolved: \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0) }), !addresses.contains(address) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw EventLoopError(.unresolved, "\(host) has no address") }
        return addresses
    }
}
