/// One value as it was written, with its place. A YAML file and the environment both become such values.
struct ConfigurationNode: Sendable {
    /// A key of a mapping and its value.
    struct Entry: Sendable {
        /// The key as written.
        let key: String
        /// Where the key stands.
        let origin: ConfigurationOrigin
        /// What it is set to.
        var value: ConfigurationNode
    }

    /// The four shapes a value can have.
    enum Content: Sendable {
        /// Nothing.
        case null
        /// A single value, and whether it stood in quotes.
        case scalar(String, quoted: Bool)
        /// A list.
        case list([ConfigurationNode])
        /// Keys with values, in the order of the text.
        case mapping([Entry])
    }

    /// The value.
    var content: Content
    /// Where it begins.
    var origin: ConfigurationOrigin

    /// Whether nothing was set.
    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// Whether it is a list without entries.
    var isEmptyList: Bool {
        if case .list(let entries) = content { entries.isEmpty } else { false }
    }

    /// The shape in words, for messages.
    var shape: String {
        switch content {
        case .null: "nothing"
        case .scalar: "a single value"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The value of a key; nil when this is not a mapping or has no such key.
    subscript(key: String) -> ConfigurationNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// A plain or quoted scalar, in which an unquoted `null`, `~` or nothing means "not set".
    static func scalar(_ text: String, quoted: Bool, origin: ConfigurationOrigin) -> ConfigurationNode {
        let isNull = !quoted && ["", "~", "null", "Null", "NULL"].contains(text)
        return ConfigurationNode(content: isNull ? .null : .scalar(text, quoted: quoted), origin: origin)
    }

    /// Sets the value at a path, and makes the mappings on the way. If a value on the way is not a mapping, that value
    /// stays, and nothing is set.
    mutating func set(_ path: ArraySlice<String>, to value: ConfigurationNode) {
        guard let key = path.first else {
            self = value
            return
        }
        var entries: [Entry]
        switch content {
        case .null: entries = []
        case .mapping(let present): entries = present
        case .scalar, .list: return
        }
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries[index].value.set(path.dropFirst(), to: value)
        } else {
            var node = ConfigurationNode(content: .null, origin: value.origin)
            node.set(path.dropFirst(), to: value)
            entries.append(Entry(key: key, origin: value.origin, value: node))
        }
        content = .mapping(entries)
    }
}
