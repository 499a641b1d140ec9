import Glibc

/// The system's name service.
package enum Resolver {
    /// Looks up a host's addresses afresh; blocks, so call it on a helper thread only.
    ///
    /// - Parameters:
    ///   - host: A name or a numeric address, with or without brackets.
    ///   - port: The port the addresses get.
    /// - Returns: The addresses in the system's order of preference, each once, never empty.
    /// - Throws: `EventLoopError` when the name has no address, the name service fails, or the port is out of range.
    ///   getaddrinfo(3) has no time limit of its own.
    package static func addresses(host: String, port: Int) throws(EventLoopError) -> [SocketAddress] {
        guard (0...65535).contains(port) else {
            throw EventLoopError(.resolutionFailed, message: "port \(port) is out of range", isRetriable: false)
        }
        if let address = SocketAddress(host, port: port) { return [address] }
        // No AI_ADDRCONFIG: it would hide ::1 on machines that have no other IPv6 address.
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, String(port), &hints, &list)
        let systemError = errno
        guard failure == 0 else { throw error(failure, systemError, host: host) }
        defer { freeaddrinfo(list) }

        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            let bytes = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            guard let address = SocketAddress(reading: bytes), !addresses.contains(address) else { continue }
            addresses.append(address)
        }
        guard !addresses.isEmpty else {
            throw EventLoopError(.resolutionFailed, message: "\(host) has no address", isRetriable: true)
        }
        return addresses
    }

    private static func error(_ failure: Int32, _ systemError: Int32, host: String) -> EventLoopError {
        if failure == EAI_SYSTEM {
            return EventLoopError(.resolutionFailed, "looking up \(host)", errno: systemError)
        }
        let text = String(cString: gai_strerror(failure))
        // An unknown name may be known a minute later: a new DNS record, or a service of a cluster that just started.
        let isRetriable = failure == EAI_AGAIN || failure == EAI_NONAME || failure == EAI_FAIL
        return EventLoopError(.resolutionFailed, message: "looking up \(host): \(text)", isRetriable: isRetriable)
    }
}
