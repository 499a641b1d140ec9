/// Hosts that are reached without a proxy, as `NO_PROXY` lists them.
///
/// There is no standard. This obeys what curl and Go agree on: names separated by commas, IP addresses, and `*` for
/// everything. A name also stands for all names below it, whether or not it begins with a dot, and may have a port.
/// Address ranges count as names that match nothing, because APNs is reached by name.
package struct ProxyExceptions: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        var host: String
        var port: Int?
    }

    private let entries: [Entry]
    private let exceptsAll: Bool

    /// Reads the value of `NO_PROXY`.
    ///
    /// - Parameter text: The variable's value. Words that cannot be understood match nothing.
    package init(_ text: String) {
        var entries: [Entry] = []
        var exceptsAll = false
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if word == "*" { exceptsAll = true }
            entries.append(Self.entry(word.lowercased()))
        }
        self.entries = entries
        self.exceptsAll = exceptsAll
    }

    private static func entry(_ word: String) -> Entry {
        var host = word[...]
        var port: Int?
        if host.first == "[", let end = host.firstIndex(of: "]") {
            port = Int(host[host.index(after: end)...].drop { $0 == ":" })
            host = host[host.index(after: host.startIndex)..<end]
        } else if let colon = host.firstIndex(of: ":"), colon == host.lastIndex(of: ":") {
            port = Int(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        if host.hasPrefix("*.") { host.removeFirst() }
        while host.first == "." { host.removeFirst() }
        return Entry(host: String(host), port: port)
    }

    /// Whether a host is reached without a proxy.
    package func contains(_ endpoint: APNSEndpoint) -> Bool {
        if exceptsAll { return true }
        var host = endpoint.host.lowercased()
        while host.last == "." { host.removeLast() }
        return entries.contains { entry in
            guard !entry.host.isEmpty, entry.port == nil || entry.port == endpoint.port else { return false }
            return host == entry.host || host.hasSuffix("." + entry.host)
        }
    }
}
