/// Lays the environment's settings over the file's.
struct EnvironmentOverlay {
    /// The environment.
    let environment: [String: String]
    /// Where problems go.
    let problems: ConfigurationProblems

    /// Sets what the environment names; an empty variable counts as not set.
    func apply(to root: inout ConfigurationNode) {
        for variable in ConfigurationSchema.variables {
            guard let (text, origin) = text(of: variable), let node = node(text, variable, origin) else { continue }
            root.set(variable.path.split(separator: ".").map(String.init)[...], to: node)
        }
        checkNames()
    }

    private func text(of variable: ConfigurationSchema.Variable) -> (String, ConfigurationOrigin)? {
        let direct = environment[variable.name].flatMap { $0.isEmpty ? nil : $0 }
        guard let fileName = variable.fileName, let path = environment[fileName], !path.isEmpty else {
            return direct.map { ($0, .environment(variable.name)) }
        }
        let origin = ConfigurationOrigin.environment(fileName)
        if direct != nil {
            problems.add(origin, "set either \(variable.name) or \(fileName), not both")
            return nil
        }
        do {
            var bytes = try TextFile.textBytes(at: path)
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
            guard !bytes.isEmpty else {
                problems.add(origin, "the file \(path) is empty")
                return nil
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                problems.add(origin, "the file \(path) is not UTF-8 text")
                return nil
            }
            return (text, origin)
        } catch {
            problems.add(origin, "cannot read \(path): \(error.reason)")
            return nil
        }
    }

    private func node(
        _ text: String, _ variable: ConfigurationSchema.Variable, _ origin: ConfigurationOrigin
    ) -> ConfigurationNode? {
        switch variable.shape {
        case .value, .section:
            return .scalar(text, quoted: false, origin: origin)
        case .values:
            if text.hasPrefix("[") { return json(text, variable) }
            let words = Self.split(text).map { ConfigurationNode.scalar($0, quoted: true, origin: origin) }
            return ConfigurationNode(content: .list(words), origin: origin)
        case .records:
            return json(text, variable)
        }
    }

    private func json(_ text: String, _ variable: ConfigurationSchema.Variable) -> ConfigurationNode? {
        let (root, errors) = ConfigurationYAML.read(text) { line, column in
            .environmentText(variable.name, line: line, column: column)
        }
        problems.add(errors)
        return root
    }

    /// Splits at commas and line ends. A piece without `://` belongs to the URI before it, because a password may have
    /// a comma.
    static func split(_ text: String) -> [String] {
        var words: [String] = []
        for piece in text.split(whereSeparator: { $0 == "," || $0.isNewline }).map(Self.trimmed) where !piece.isEmpty {
            let begun = words.last.map { $0.contains("://") && !piece.contains("://") } ?? false
            if begun, let last = words.popLast() {
                words.append("\(last),\(piece)")
            } else {
                words.append(piece)
            }
        }
        return words
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let kept = start.reversed().drop { $0 == " " || $0 == "\t" }
        return String(String(kept).reversed())
    }

    /// Refuses variables with our prefix that set nothing. Variables that Kubernetes sets for a service of that name
    /// are ignored.
    private func checkNames() {
        let known = ConfigurationSchema.variables.flatMap { [$0.name] + ($0.fileName.map { [$0] } ?? []) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(ConfigurationSchema.environmentPrefix) {
            if known.contains(name) || ConfigurationSchema.otherVariables.contains(name)
                || Self.isServiceLink(name, value)
            {
                continue
            }
            problems.add(.environment(name), "unknown setting.\(Self.hint(for: name, among: known))")
        }
    }

    /// A sentence that helps the writer of an unknown variable, with a space before it; empty if nothing is near.
    private static func hint(for name: String, among known: [String]) -> String {
        let prefix = ConfigurationSchema.environmentPrefix
        if name == prefix + "CONFIG" { return " The path of the configuration file is given with --config." }
        if let member = known.first(where: { $0.hasPrefix(name + "_") }) {
            return " It is a section: each of its settings has a variable of its own, such as \(member)."
        }
        // Compared without the prefix: the prefix would make any two names look alike.
        let nearest = Suggestion.nearest(
            to: String(name.dropFirst(prefix.count)), among: known.map { String($0.dropFirst(prefix.count)) })
        return nearest.map { " Did you mean \"\(prefix)\($0)\"?" } ?? ""
    }

    /// Whether a variable is one of those that Kubernetes and container links make from a service's name.
    ///
    /// [Kubernetes, environment variables of
    /// services](https://kubernetes.io/docs/concepts/services-networking/service/)
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_")
        if words.last == "PORT", value.contains("://") { return true }
        return zip(words, words.dropFirst()).contains { word, next in
            if word == "SERVICE" { return next == "HOST" || next == "PORT" }
            return word == "PORT" && Int(next) != nil
        }
    }
}
