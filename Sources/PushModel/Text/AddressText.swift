/// The parts of an address such as `https://user:password@host:port/path`, split without interpreting them further.
///
/// [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3)
package struct AddressText: Sendable, Equatable {
    /// The scheme, in lower case.
    package let scheme: String
    /// What stands before `@`, still percent-encoded; nil without `@`. Secret.
    package let userInfo: String?
    /// The host, an IPv6 address without its brackets.
    package let host: String
    /// The port, if written.
    package let port: Int?
    /// The path with what follows it; empty or beginning with `/` or `?` or `#`.
    package let rest: String

    /// Splits an address.
    ///
    /// - Throws: A ``Rejection`` that never quotes the address, because it may carry a password.
    package init(_ text: String) throws(Rejection) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
            throw Rejection("an address must not contain spaces or control characters")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw Rejection("not an address: it must begin with a scheme, as in https://")
        }
        scheme = text[..<colon].lowercased()
        let afterScheme = text[text.index(colon, offsetBy: 3)...]
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        rest = String(afterScheme[authority.endIndex...])
        var hostAndPort = authority
        if let at = authority.lastIndex(of: "@") {
            userInfo = String(authority[..<at])
            hostAndPort = authority[authority.index(after: at)...]
        } else {
            userInfo = nil
        }
        (host, port) = try Self.splitHost(hostAndPort)
    }

    /// Splits `host`, `host:port`, `[v6]` or `[v6]:port`.
    package static func splitHost(_ text: Substring) throws(Rejection) -> (host: String, port: Int?) {
        let host: Substring
        var tail: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw Rejection("\"[\" without \"]\" in the host") }
            host = text[text.index(after: text.startIndex)..<end]
            tail = text[text.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else { throw Rejection("only a port may follow \"]\"") }
        } else {
            host = text.prefix { $0 != ":" }
            tail = text[host.endIndex...]
        }
        guard !host.isEmpty else { throw Rejection("the host is missing") }
        guard tail.popFirst() != nil else { return (String(host), nil) }
        guard let port = Int(tail), (0...65535).contains(port), tail.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) else {
            throw Rejection("the port must be a number from 0 to 65535")
        }
        return (String(host), port)
    }

    /// The host as it stands in an address: an IPv6 address in brackets.
    package var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
