/// An exchange and its bindings.
struct ModelExchange {
    enum Kind: String {
        case topic, direct, fanout
    }

    /// Where a binding leads.
    enum Destination: Hashable {
        case queue(String)
        case exchange(String)
    }

    struct Binding: Equatable {
        var key: String
        var destination: Destination
    }

    /// How many keys it remembers.
    private static let mostKeys = 10_000

    let kind: Kind
    var arguments = WireTable()
    private(set) var bindings: [Binding] = [] {
        didSet { found.removeAll() }
    }
    /// What `destinations` found, by key.
    private var found: [String: [Destination]] = [:]

    init(_ kind: Kind, arguments: WireTable = WireTable()) {
        self.kind = kind
        self.arguments = arguments
    }

    mutating func bind(_ binding: Binding) {
        if !bindings.contains(binding) { bindings.append(binding) }
    }

    mutating func unbind(_ binding: Binding) { bindings.removeAll { $0 == binding } }

    mutating func forget(_ destination: Destination) { bindings.removeAll { $0.destination == destination } }

    /// Where a message goes from here, each destination once.
    mutating func destinations(of key: String) -> [Destination] {
        if let known = found[key] { return known }
        var found: [Destination] = []
        for binding in bindings where matches(binding.key, key) && !found.contains(binding.destination) {
            found.append(binding.destination)
        }
        if self.found.count < Self.mostKeys { self.found[key] = found }
        return found
    }

    private func matches(_ pattern: String, _ key: String) -> Bool {
        switch kind {
        case .fanout: true
        case .direct: pattern == key
        case .topic: pattern == key || Self.matches(words(pattern), words(key))
        }
    }

    private func words(_ text: String) -> [Substring] { text.split(separator: ".", omittingEmptySubsequences: false) }

    private static func matches(_ pattern: [Substring], _ key: [Substring]) -> Bool {
        guard let first = pattern.first else { return key.isEmpty }
        let rest = Array(pattern.dropFirst())
        if first == "#" { return (0...key.count).contains { matches(rest, Array(key.dropFirst($0))) } }
        guard let word = key.first, first == "*" || first == word else { return false }
        return matches(rest, Array(key.dropFirst()))
    }
}

/// What arguments and policies say about a queue.
struct ModelQueueSettings: Equatable {
    var ttl: Int64?
    var deadLetterExchange: String?
    var deadLetterKey: String?
    var isAtLeastOnce = false
    var deliveryLimit: Int?
    var maxLength: Int?
    var maxBytes: Int?
    var rejectsPublish = false
    /// Milliseconds.
    var consumerTimeout: Int64?

    /// Takes settings in. Of two numbers the smaller one holds, of two texts the earlier one.
    mutating func take(_ table: WireTable) {
        for (written, value) in table.fields {
            let name = written.hasPrefix("x-") ? String(written.dropFirst(2)) : written
            switch name {
            case "message-ttl": Self.lower(&ttl, value.number)
            case "dead-letter-exchange": deadLetterExchange = deadLetterExchange ?? value.string
            case "dead-letter-routing-key": deadLetterKey = deadLetterKey ?? value.string
            case "dead-letter-strategy": isAtLeastOnce = isAtLeastOnce || value.string == "at-least-once"
            case "delivery-limit": Self.lower(&deliveryLimit, value.number.map { Int($0) })
            case "max-length": Self.lower(&maxLength, value.number.map { Int($0) })
            case "max-length-bytes": Self.lower(&maxBytes, value.number.map { Int($0) })
            case "overflow": rejectsPublish = rejectsPublish || value.string == "reject-publish"
            case "consumer-timeout": Self.lower(&consumerTimeout, value.number)
            default: break
            }
        }
    }

    private static func lower<Number: Comparable>(_ place: inout Number?, _ other: Number?) {
        guard let other else { return }
        place = place.map { min($0, other) } ?? other
    }
}
