import EventLoop
import Text

extension AMQPEndpoint {
    /// Parts that a URI may leave out, because the caller supplies them in another way.
    package struct Supplements: OptionSet, Sendable {
        /// The bits.
        package let rawValue: Int

        /// Makes a set from its bits.
        ///
        /// - Parameter rawValue: The bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The password.
        package static let password = Supplements(rawValue: 1)
        /// The client certificate with its key.
        package static let certificate = Supplements(rawValue: 2)
    }

    /// Reads an `amqp:` or `amqps:` URI.
    ///
    /// Follows <https://www.rabbitmq.com/docs/uri-spec> and
    /// <https://www.rabbitmq.com/docs/uri-query-parameters>, with these exceptions:
    ///
    /// - `amqp://host/` means the virtual host `/`, not the one with the empty name.
    /// - The host must be there. So must the password of a user, unless `supplements` has it or the login is EXTERNAL.
    /// - Unknown, repeated and empty parameters are errors. So are parameters of TLS with `amqp:`, and every value of
    ///   `verify` but `verify_peer`.
    ///
    /// No error repeats a part of the URI in which a password might stand.
    ///
    /// - Parameters:
    ///   - uri: The URI as the user wrote it.
    ///   - supplements: The parts that the caller supplies.
    /// - Returns: The endpoint.
    /// - Throws: `invalidURI` saying which part is wrong, and how to write it.
    package static func parse(
        uri: String, supplementedBy supplements: Supplements = []
    ) throws(AMQPError) -> AMQPEndpoint {
        let bytes = Array(uri.utf8)
        guard !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw invalid("white space and control characters are not allowed; write them as %XX")
        }
        guard let (useTLS, afterScheme) = scheme(of: bytes) else {
            throw invalid("it must start with amqp:// or amqps://")
        }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw invalid("a # must be written %23") }

        let rest = bytes[afterScheme...]
        let authorityEnd = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let queryStart = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        guard !rest[authorityEnd...].contains(UInt8(ascii: "@")) else {
            throw invalid("an @ after the host must be written %40; a / or ? in user or password %2F or %3F")
        }

        var endpoint = AMQPEndpoint(host: "", useTLS: useTLS)
        let hasPassword = try endpoint.readAuthority(rest[..<authorityEnd])
        try endpoint.readVirtualHost(rest[authorityEnd..<max(authorityEnd, queryStart)])
        if queryStart < rest.endIndex { try endpoint.readQuery(rest[(queryStart + 1)...]) }
        guard !endpoint.saslExternal || endpoint.tls.certFile != nil || (useTLS && supplements.contains(.certificate))
        else {
            throw invalid("auth_mechanism=external needs amqps:// with certfile and keyfile")
        }
        guard hasPassword || endpoint.saslExternal || supplements.contains(.password) else {
            throw invalid("the password is missing; write user:password@ (or user:@ for an empty one)")
        }
        return endpoint
    }

    /// An error about the URI.
    ///
    /// - Parameter reason: What is wrong with it.
    /// - Returns: The error.
    static func invalid(_ reason: String) -> AMQPError { AMQPError(.invalidURI, "invalid AMQP URI: \(reason)") }

    private static func scheme(of bytes: [UInt8]) -> (useTLS: Bool, end: Int)? {
        for (name, useTLS) in [("amqp://", false), ("amqps://", true)] {
            // Setting bit 5 folds ASCII letters to lower case and leaves ":" and "/" as they are.
            if bytes.prefix(name.utf8.count).map({ $0 | 0x20 }).elementsEqual(name.utf8) {
                return (useTLS, name.utf8.count)
            }
        }
        return nil
    }

    /// Returns false when a user is named without a password.
    private mutating func readAuthority(_ authority: ArraySlice<UInt8>) throws(AMQPError) -> Bool {
        var hostAndPort = authority
        var hasPassword = true
        if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
            hostAndPort = authority[(at + 1)...]
            guard !hostAndPort.contains(UInt8(ascii: "@")) else {
                throw Self.invalid("an @ in user or password must be written %40")
            }
            let login = authority[..<at]
            let colon = login.firstIndex(of: UInt8(ascii: ":"))
            user = try Self.decoded(login[..<(colon ?? login.endIndex)], part: "user")
            guard !user.isEmpty else { throw Self.invalid("the user name before the @ is missing") }
            if let colon {
                let secret = login[(colon + 1)...]
                guard !secret.contains(UInt8(ascii: ":")) else {
                    throw Self.invalid("a : in the password must be written %3A")
                }
                password = try Self.decoded(secret, part: "password")
            } else {
                hasPassword = false
            }
        }
        try readHost(hostAndPort)
        return hasPassword
    }

    private mutating func readHost(_ text: ArraySlice<UInt8>) throws(AMQPError) {
        var portText: ArraySlice<UInt8>?
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else {
                throw Self.invalid("the ] after the IPv6 address is missing")
            }
            host = String(decoding: text[(text.startIndex + 1)..<close], as: UTF8.self)
            guard host.contains(":"), SocketAddress(host, port: 0) != nil else {
                throw Self.invalid("the text in brackets is not an IPv6 address")
            }
            let after = text[(close + 1)...]
            guard after.isEmpty || after.first == UInt8(ascii: ":") else {
                throw Self.invalid("only a :port may follow the ]")
            }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else {
            let colon = text.firstIndex(of: UInt8(ascii: ":"))
            if let colon, text[(colon + 1)...].contains(UInt8(ascii: ":")) {
                throw Self.invalid("an IPv6 address must stand in brackets")
            }
            host = try Self.decoded(text[..<(colon ?? text.endIndex)], part: "host")
            portText = colon.map { text[($0 + 1)...] }
        }
        guard !host.isEmpty else { throw Self.invalid("the host is missing") }
        guard host.utf8.count <= 253, !host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == 0x2F }) else {
            throw Self.invalid("the host is not a host name or address")
        }
        if let portText {
            guard let number = Self.number(portText), (1...65535).contains(number) else {
                throw Self.invalid("the port must be a number from 1 to 65535")
            }
            port = number
        }
    }

    private mutating func readVirtualHost(_ path: ArraySlice<UInt8>) throws(AMQPError) {
        let name = path.dropFirst()
        guard !name.contains(UInt8(ascii: "/")) else {
            throw Self.invalid("a / in the virtual host must be written %2F")
        }
        guard !name.isEmpty else { return }
        virtualHost = try Self.decoded(name, part: "virtual host")
        guard virtualHost.utf8.count <= 255 else { throw Self.invalid("the virtual host is longer than 255 bytes") }
    }

    /// Reads a decimal number of at most nine digits.
    ///
    /// - Parameter digits: The text.
    /// - Returns: Nil for anything but one to nine digits.
    static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Undoes percent-encoding (RFC 3986, 2.1).
    ///
    /// - Parameters:
    ///   - text: The encoded bytes.
    ///   - part: What the text is, for errors.
    /// - Returns: The decoded text.
    /// - Throws: `invalidURI` for a damaged escape, a NUL or invalid UTF-8.
    static func decoded(_ text: ArraySlice<UInt8>, part: String) throws(AMQPError) -> String {
        guard let bytes = PercentText.decode(text) else {
            throw invalid("a % in the \(part) must be followed by two hexadecimal digits")
        }
        guard !bytes.contains(0) else { throw invalid("the \(part) contains a NUL byte") }
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw invalid("the \(part) is not valid UTF-8")
        }
        return string
    }
}
