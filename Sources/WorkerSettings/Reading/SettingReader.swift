import PushModel

/// Reads the settings of one mapping by the type each should have; what does not fit is noted and replaced by the
/// default, so that reading goes on and all problems come out at once.
struct SettingReader {
    /// The mapping, or nothing where the file has nothing.
    let node: ConfigurationNode
    /// The keys from the root, such as `routes[0]`; empty at the root.
    let path: String
    /// Where problems go.
    let problems: ConfigurationProblems

    /// One accepted value and where it stands.
    struct Setting<Value> {
        /// The value.
        let value: Value
        /// Where it was written.
        let origin: ConfigurationOrigin
    }

    /// The full name of a key, for messages.
    func name(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Notes a problem at a place.
    func reject(_ origin: ConfigurationOrigin, _ message: String) { problems.add(origin, message) }

    /// The value of a key unless it is absent or null.
    func present(_ key: String) -> ConfigurationNode? {
        guard let value = node[key], !value.isNull else { return nil }
        return value
    }

    /// Where a key's value stands, or the mapping where it is absent.
    func origin(of key: String) -> ConfigurationOrigin { node[key]?.origin ?? node.origin }

    /// A reader for a section; an absent one reads as empty.
    func section(_ key: String) -> SettingReader {
        let value = node[key] ?? ConfigurationNode(content: .null, origin: node.origin)
        return SettingReader(node: value, path: name(of: key), problems: problems)
    }

    /// Readers for the entries of a list of mappings; what has another shape was noted by ``ShapeCheck``.
    func records(_ key: String) -> [SettingReader] {
        guard case .list(let entries)? = present(key)?.content else { return [] }
        return entries.enumerated().compactMap { index, entry in
            guard case .mapping = entry.content else { return nil }
            return SettingReader(node: entry, path: "\(name(of: key))[\(index)]", problems: problems)
        }
    }

    /// Reads one value.
    ///
    /// - Parameters:
    ///   - key: The setting.
    ///   - parse: Turns its text into a value, or says why not.
    /// - Returns: The value, or nil when it is absent or was refused.
    func optional<Value>(
        _ key: String, _ parse: (String) throws(Rejection) -> Value
    ) -> Setting<Value>? {
        guard let value = present(key) else { return nil }
        return accept(value, name: name(of: key), parse)
    }

    /// Reads one value that has a default.
    func value<Value>(
        _ key: String, default fallback: Value, _ parse: (String) throws(Rejection) -> Value
    ) -> Value {
        optional(key, parse)?.value ?? fallback
    }

    /// Reads one value that must be there.
    func required<Value>(
        _ key: String, _ parse: (String) throws(Rejection) -> Value
    ) -> Setting<Value>? {
        guard present(key) != nil else {
            reject(origin(of: key), "\(name(of: key)): is required")
            return nil
        }
        return optional(key, parse)
    }

    /// Reads a list of values, or one value alone.
    ///
    /// - Returns: The accepted values, or nil when the key is absent.
    func list<Value>(
        _ key: String, _ parse: (String) throws(Rejection) -> Value
    ) -> [Setting<Value>]? {
        guard let value = present(key) else { return nil }
        guard case .list(let entries) = value.content else {
            return accept(value, name: name(of: key), parse).map { [$0] } ?? []
        }
        return entries.enumerated().compactMap { accept($1, name: "\(name(of: key))[\($0)]", parse) }
    }

    private func accept<Value>(
        _ node: ConfigurationNode, name: String, _ parse: (String) throws(Rejection) -> Value
    ) -> Setting<Value>? {
        guard case .scalar(let text, _) = node.content else {
            reject(node.origin, "\(name): expected a single value, found \(node.shape)")
            return nil
        }
        do {
            return Setting(value: try parse(text), origin: node.origin)
        } catch {
            reject(node.origin, "\(name): \(error.message)")
            return nil
        }
    }
}
