/// What a request to a server on loopback names as its host.
///
/// A web page of another site reaches loopback through the browser of this machine. With DNS rebinding it does so under
/// a name of its own, and can then read the answers. So such a server answers no request that names a foreign host, and
/// does nothing for a page of another origin.
package enum RequestHost: Equatable, Sendable {
    /// `localhost`, or an address of loopback.
    case thisMachine
    /// Another numeric address, such as that of a tunnel. DNS rebinding needs a name.
    case address
    /// Another name, or no host at all.
    case foreign

    /// Reads a host.
    ///
    /// - Parameter authority: `host` or `host:port`, as it stands in the header `Host`.
    package init(_ authority: String) {
        let parts = Self.split(authority[...])
        guard let (host, tail) = parts, tail.isEmpty || Self.isPort(tail) else {
            self = .foreign
            return
        }
        if SocketAddress.isLoopback(host: host) {
            self = .thisMachine
        } else {
            self = SocketAddress(host, port: 0) == nil ? .foreign : .address
        }
    }

    /// Whether a page may send a request to the server that it came from.
    ///
    /// - Parameters:
    ///   - origin: The header `Origin`; nil without one, as in requests of programs and in a page's own reading.
    ///   - host: The header `Host`.
    package static func isOwn(origin: String?, of host: String) -> Bool {
        origin.map { $0.lowercased() == "http://\(host.lowercased())" } ?? true
    }

    private static func split(_ text: Substring) -> (host: String, tail: Substring)? {
        guard text.first == "[" else {
            let host = text.prefix { $0 != ":" }
            return (String(host), text[host.endIndex...])
        }
        guard let end = text.firstIndex(of: "]") else { return nil }
        return (String(text[...end].dropFirst().dropLast()), text[text.index(after: end)...])
    }

    private static func isPort(_ tail: Substring) -> Bool {
        let digits = tail.utf8.dropFirst()
        return tail.first == ":" && digits.allSatisfy { (0x30...0x39).contains($0) } && UInt16(tail.dropFirst()) != nil
    }
}
