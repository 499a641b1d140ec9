import Text

/// An HTTP proxy that connections to APNs go through. CONNECT makes a tunnel, and TLS inside it runs from end to end.
///
/// RFC 9110, section 9.3.6: <https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6>
package struct HTTPProxy: Sendable, Hashable, CustomStringConvertible {
    /// The port of a proxy whose URL names no port: the port of `http` (RFC 3986).
    private static let defaultPort = 80

    /// The proxy's name or IP address, without brackets.
    package let host: String
    /// The proxy's TCP port.
    package let port: Int
    /// `user:password` in Base64 for `Proxy-Authorization: Basic`; nil if the URL names no user. Secret.
    let credentials: [UInt8]?

    /// Reads a URL such as `http://proxy:3128` or `http://user:password@[::1]:3128/`. User and password may be
    /// percent-encoded.
    ///
    /// - Parameter url: Scheme `http` or none, optionally a user with a password, a host, optionally a port. Secret.
    /// - Returns: The proxy.
    /// - Throws: `APNSClientError` that says what is wrong with the URL and never quotes it.
    package static func parse(_ url: String) throws(APNSClientError) -> HTTPProxy {
        func refuse(_ why: String) -> APNSClientError {
            APNSClientError(.badAddress, "the address of the proxy cannot be used: \(why)")
        }
        var rest = url[...]
        if let end = url.firstRange(of: "://") {
            guard url[..<end.lowerBound].lowercased() == "http" else {
                throw refuse("it must begin with http://, the only way Martlet speaks to a proxy")
            }
            rest = url[end.upperBound...]
        }
        if rest.last == "/" { rest.removeLast() }
        var credentials: [UInt8]?
        if let at = rest.lastIndex(of: "@") {
            credentials = try userInformation(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        // The rest has the form of an APNs address, whose parser is strict about hosts and ports.
        let endpoint: APNSEndpoint
        do throws(APNSClientError) {
            endpoint = try APNSEndpoint.parse("https://\(rest)")
        } catch {
            throw refuse("write http://host:port, or http://user:password@host:port")
        }
        let hasPort = !rest.hasSuffix("]") && rest.contains(":")
        return HTTPProxy(
            host: endpoint.host, port: hasPort ? endpoint.port : defaultPort, credentials: credentials)
    }

    /// Host and port as a URL, without user and password.
    package var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Undoes percent-encoding and encodes for Basic authentication (RFC 7617).
    private static func userInformation(_ text: Substring) throws(APNSClientError) -> [UInt8] {
        guard var bytes = PercentText.decode(Array(text.utf8)[...]) else {
            throw APNSClientError(
                .badAddress, "the address of the proxy cannot be used: a % in user or password must be written %25")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), bytes.first != UInt8(ascii: ":"), !bytes.isEmpty else {
            throw APNSClientError(
                .badAddress, "the address of the proxy cannot be used: before the @ there must be a user")
        }
        if !bytes.contains(UInt8(ascii: ":")) { bytes.append(UInt8(ascii: ":")) }
        var text: [UInt8] = []
        Base64.standard.append(bytes, to: &text)
        return text
    }
}
