/// Where an APNs is: a host and a port. The connection is always TLS.
package struct APNSEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The port of HTTPS; APNs also listens on 2197.
    package static let defaultPort = 443

    /// The host's name or IP address, without brackets.
    package let host: String
    /// The TCP port.
    package let port: Int

    /// An endpoint from its parts.
    ///
    /// - Parameters:
    ///   - host: A host name, or an IP address without brackets.
    ///   - port: A TCP port.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads a URL such as `https://api.push.apple.com` or `https://[::1]:2197/`.
    ///
    /// - Parameter url: Scheme `https`, a host, optionally a port; nothing else.
    /// - Returns: The endpoint.
    /// - Throws: `APNSClientError` that says what is wrong with the URL.
    package static func parse(_ url: String) throws(APNSClientError) -> APNSEndpoint {
        func refuse(_ why: String) -> APNSClientError {
            APNSClientError(.badAddress, "\(url) is not an address of an APNs: \(why)")
        }
        let scheme = "https://"
        guard url.prefix(scheme.count).lowercased() == scheme else { throw refuse("it must begin with https://") }
        var rest = url.dropFirst(scheme.count)
        if rest.last == "/" { rest.removeLast() }
        // A URL with user information is not repeated, because it may hold a password.
        guard !rest.contains("@") else {
            throw APNSClientError(.badAddress, "an address of an APNs takes no user information")
        }
        guard !rest.contains(where: { "/?#".contains($0) }) else { throw refuse("it takes no path or query") }
        let host: Substring
        let port: Substring?
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw refuse("the bracket is not closed") }
            host = rest[rest.index(after: rest.startIndex)..<end]
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else { throw refuse("the port must follow a colon") }
            port = tail.isEmpty ? nil : tail.dropFirst()
            guard host.contains(":") else { throw refuse("brackets are for IPv6 addresses") }
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw refuse("an IPv6 address needs brackets") }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { throw refuse("the host is missing or malformed") }
        guard let port else { return APNSEndpoint(host: String(host), port: defaultPort) }
        guard let number = Int(port), number > 0, number < 65_536, port.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else {
            throw refuse("the port must be a number from 1 to 65535")
        }
        return APNSEndpoint(host: String(host), port: number)
    }

    /// The value of `:authority`. The port is left out if it is that of HTTPS (RFC 9110, section 4.2.2).
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort ? name : "\(name):\(port)"
    }

    /// The endpoint as a URL.
    package var description: String { "https://\(authority)" }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
