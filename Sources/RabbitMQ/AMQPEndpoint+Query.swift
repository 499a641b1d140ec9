extension AMQPEndpoint {
    /// The known query parameters, spelled as RabbitMQ's Erlang client spells them.
    private static let knownParameters = [
        "auth_mechanism", "cacertfile", "certfile", "channel_max", "connection_timeout", "frame_max", "heartbeat",
        "keyfile", "server_name_indication", "verify",
    ]
    private static let parametersOfTLS: Set<String> = [
        "cacertfile", "certfile", "keyfile", "server_name_indication", "verify",
    ]

    /// Reads the query part of a URI into this endpoint.
    ///
    /// - Parameter query: The bytes after the question mark.
    /// - Throws: `invalidURI` naming the parameter that is wrong.
    mutating func readQuery(_ query: ArraySlice<UInt8>) throws(AMQPError) {
        var seen: Set<String> = []
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
                throw Self.invalid("each query parameter must be written name=value")
            }
            let name = try Self.decoded(pair[..<equals], part: "query")
            let value = try Self.decoded(pair[(equals + 1)...], part: "parameter \(name)")
            guard Self.knownParameters.contains(name) else {
                let known = Self.knownParameters.joined(separator: ", ")
                throw Self.invalid("unknown parameter \(name); known are \(known)")
            }
            guard seen.insert(name).inserted else { throw Self.invalid("parameter \(name) is given twice") }
            guard useTLS || !Self.parametersOfTLS.contains(name) else {
                throw Self.invalid("parameter \(name) needs amqps://")
            }
            guard !value.isEmpty else { throw Self.invalid("parameter \(name) has no value") }
            try setParameter(name, value)
        }
        guard (tls.certFile == nil) == (tls.keyFile == nil) else {
            throw Self.invalid("certfile and keyfile must be given together")
        }
    }

    private mutating func setParameter(_ name: String, _ value: String) throws(AMQPError) {
        switch name {
        case "heartbeat": heartbeat = try Self.number(value, of: name, in: 1...3600, unit: "seconds")
        case "connection_timeout":
            connectionTimeout = .milliseconds(try Self.number(value, of: name, in: 1...600_000, unit: "milliseconds"))
        case "channel_max": channelMax = try Self.number(value, of: name, in: 1...2047, unit: "channels")
        case "frame_max":
            let range = AMQPSession.smallestFrameMax...1_048_576
            frameMax = try Self.number(value, of: name, in: range, unit: "bytes")
        case "cacertfile": tls.caFile = value
        case "certfile": tls.certFile = value
        case "keyfile": tls.keyFile = value
        case "server_name_indication": serverName = value
        case "verify":
            guard value == "verify_peer" else {
                throw Self.invalid("verify must be verify_peer: the broker's certificate is always verified")
            }
        default:
            switch value.lowercased() {
            case "plain": saslExternal = false
            case "external": saslExternal = true
            default: throw Self.invalid("auth_mechanism must be plain or external")
            }
        }
    }

    private static func number(
        _ text: String, of name: String, in range: ClosedRange<Int>, unit: String
    ) throws(AMQPError) -> Int {
        guard let number = number(Array(text.utf8)), range.contains(number) else {
            throw invalid("\(name) must be a number of \(unit) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
