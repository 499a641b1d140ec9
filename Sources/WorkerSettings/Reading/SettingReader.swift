/// Reads the values of keys from the root, or from an entry of a list of mappings. If a value does not fit, the reader
/// notes a problem and takes the default. So reading goes on, and all problems come out at once.
struct SettingReader {
    /// The mapping, or nothing where the file has nothing.
    let node: ConfigurationNode
    /// Where the entry stands, such as `routes[0]`; empty at the root.
    let path: String
    /// Where problems go.
    let problems: ConfigurationProblems

    /// The value of a key: the one written, else the default. A required key that is absent is a problem.
    func value<Value>(_ key: SettingKey<Value>) -> Value {
        if key.facts.isRequired { demand(key) }
        guard isPresent(key), let node = node(of: key).value else { return key.standard }
        return key.kind.read(node, name(of: key), problems) ?? key.standard
    }

    /// Notes a problem unless a key is there.
    func demand<Value>(_ key: SettingKey<Value>) {
        if !isPresent(key) { reject(key, "is required") }
    }

    /// Whether a key is there, and not null.
    func isPresent<Value>(_ key: SettingKey<Value>) -> Bool { node(of: key).value.map { !$0.isNull } ?? false }

    /// Whether a key is there, and null.
    func isNull<Value>(_ key: SettingKey<Value>) -> Bool { node(of: key).value?.isNull ?? false }

    /// The full name of a key, for messages.
    func name<Value>(of key: SettingKey<Value>) -> String {
        path.isEmpty ? key.facts.path : "\(path).\(key.facts.steps.joined(separator: "."))"
    }

    /// Where a key's value stands, or the mapping where it is absent.
    func origin<Value>(of key: SettingKey<Value>) -> ConfigurationOrigin { node(of: key).origin }

    /// Notes a problem with the value of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - message: What is wrong.
    ///   - origin: Where it stands, if that is not where the value begins.
    func reject<Value>(_ key: SettingKey<Value>, _ message: String, at origin: ConfigurationOrigin? = nil) {
        problems.add(origin ?? self.origin(of: key), "\(name(of: key)): \(message)")
    }

    /// Notes that a key has no effect any more. Loading goes on.
    func warn<Value>(_ key: SettingKey<Value>, _ message: String) {
        problems.warnings.append(
            ConfigurationError(origin: origin(of: key), message: "\(name(of: key)): \(message)"))
    }

    /// Readers for the entries of a list of mappings. Entries of another shape are left out, because ``ShapeCheck``
    /// notes them.
    func records(_ name: String) -> [SettingReader] {
        guard case .list(let entries)? = node[name]?.content else { return [] }
        return entries.enumerated().compactMap { index, entry in
            guard case .mapping = entry.content else { return nil }
            return SettingReader(node: entry, path: "\(name)[\(index)]", problems: problems)
        }
    }

    /// The node of a key and its place. Without a node: nil and the place of the innermost mapping on the way to the
    /// key.
    private func node<Value>(of key: SettingKey<Value>) -> (value: ConfigurationNode?, origin: ConfigurationOrigin) {
        var last = node
        for step in key.facts.steps {
            guard let next = last[step] else { return (nil, last.origin) }
            last = next
        }
        return (last, last.origin)
    }
}
