/// Which keys may stand where in the configuration file, and the environment variable of each key.
enum ConfigurationSchema {
    /// What every variable begins with.
    static let environmentPrefix = "MARTLET_"

    /// Variables with the prefix that are not settings. One says where a worker under test dies, see ``FailPoint``. The
    /// other names the context that a command works with.
    static let otherVariables: Set<String> = ["MARTLET_FAILPOINT", "MARTLET_CONTEXT"]

    /// What may stand under a key.
    enum Shape: Sendable {
        /// A single value.
        case value
        /// A list of single values; one value alone also counts. In the environment: separated by commas or line ends,
        /// or a JSON list.
        case values
        /// A mapping.
        case section
        /// A list of mappings. In the environment: JSON text.
        case records
    }

    /// What may stand at a path such as `broker.uri`, `routes` or `routes[].name`; nil for an unknown one.
    static func shape(of path: String) -> Shape? {
        for facts in WorkerKeys.facts where facts.path.hasPrefix(path) {
            if facts.path == path { return facts.form.isList ? .values : .value }
            if facts.path.hasPrefix(path + ".") { return .section }
            if facts.path.hasPrefix(path + "[].") { return .records }
        }
        return nil
    }

    /// The keys that a mapping may have.
    ///
    /// - Parameter path: Its path, such as `broker` or `routes[]`; empty for the root.
    static func keys(of path: String) -> [String] {
        let start = path.isEmpty ? "" : path + "."
        return WorkerKeys.facts.filter { $0.path.hasPrefix(start) }.reduce(into: []) { keys, facts in
            let key = String(facts.path.dropFirst(start.count).prefix { $0 != "." && $0 != "[" })
            if keys.last != key { keys.append(key) }
        }
    }

    /// One environment variable and the key it stands for.
    struct Variable: Sendable {
        /// The path of the key.
        let path: String
        /// What may stand under the key.
        let shape: Shape
        /// Whether the value must never be shown.
        let isSecret: Bool

        /// The variable's name.
        var name: String {
            environmentPrefix + path.uppercased().split(separator: ".").joined(separator: "_")
        }
        /// For a secret, the variable that names a file with the value.
        var fileName: String? { isSecret ? name + "_FILE" : nil }
    }

    /// The variable of each key, in the order of the keys; a list of mappings has one for all its keys.
    static let variables: [Variable] = WorkerKeys.facts.reduce(into: []) { variables, facts in
        let path = facts.records ?? facts.path
        guard variables.last?.path != path, let shape = shape(of: path) else { return }
        variables.append(Variable(path: path, shape: shape, isSecret: facts.form.isSecret))
    }
}
