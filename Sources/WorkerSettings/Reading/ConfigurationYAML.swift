import Yams

/// Turns YAML (and with it JSON) text into nodes with places.
///
/// Scalars stay text: the setting that reads a scalar decides its type. So YAML's `yes`, `on` and `1:30` have no
/// special meaning. Anchors and aliases are refused, which also keeps a small file from growing into a large one.
struct ConfigurationYAML {
    /// Makes an origin from a line and a column, both from 1.
    let origin: (_ line: Int, _ column: Int) -> ConfigurationOrigin
    private var errors: [ConfigurationError] = []

    /// Makes a reader that names places with `origin`.
    init(origin: @escaping (_ line: Int, _ column: Int) -> ConfigurationOrigin) {
        self.origin = origin
    }

    /// Reads one document.
    ///
    /// - Parameters:
    ///   - text: The document; empty text gives a null node.
    ///   - origin: Names a place in it.
    /// - Returns: The root (nil when the text is not YAML) and what is wrong.
    static func read(
        _ text: String, origin: @escaping (_ line: Int, _ column: Int) -> ConfigurationOrigin
    ) -> (root: ConfigurationNode?, errors: [ConfigurationError]) {
        var reader = ConfigurationYAML(origin: origin)
        do {
            // The basic resolver gives scalars no types. So keys differ only if their text differs, as `1` and "1" do
            // not.
            let parser = try Parser(yaml: text, resolver: .basic)
            guard let root = try parser.singleRoot() else {
                return (ConfigurationNode(content: .null, origin: origin(1, 1)), [])
            }
            // Nodes refer to their anchors weakly; the parser holds them.
            let node = withExtendedLifetime(parser) { reader.convert(root) }
            return (node, reader.errors)
        } catch let error as YamlError {
            return (nil, [reader.describe(error)])
        } catch {
            return (nil, [ConfigurationError(origin: origin(1, 1), message: "cannot be read as YAML")])
        }
    }

    private mutating func convert(_ node: Node) -> ConfigurationNode {
        let place = place(of: node)
        switch node {
        case .scalar(let scalar):
            guard scalar.anchor == nil else { return refuseAnchor(place) }
            return .scalar(scalar.string, quoted: scalar.style != .plain, origin: place)
        case .sequence(let sequence):
            guard sequence.anchor == nil else { return refuseAnchor(place) }
            return ConfigurationNode(content: .list(sequence.map { convert($0) }), origin: place)
        case .mapping(let mapping):
            guard mapping.anchor == nil else { return refuseAnchor(place) }
            return ConfigurationNode(content: .mapping(entries(of: mapping)), origin: place)
        case .alias:
            return refuseAnchor(place)
        }
    }

    private mutating func entries(of mapping: Node.Mapping) -> [ConfigurationNode.Entry] {
        var entries: [ConfigurationNode.Entry] = []
        for (key, value) in mapping {
            guard case .scalar(let name) = key else {
                errors.append(ConfigurationError(origin: place(of: key), message: "a key must be a single word"))
                continue
            }
            entries.append(.init(key: name.string, origin: place(of: key), value: convert(value)))
        }
        return entries
    }

    private mutating func refuseAnchor(_ place: ConfigurationOrigin) -> ConfigurationNode {
        errors.append(
            ConfigurationError(origin: place, message: "anchors and aliases are not supported: write the value out"))
        return ConfigurationNode(content: .null, origin: place)
    }

    private func place(of node: Node) -> ConfigurationOrigin {
        origin(node.mark?.line ?? 1, node.mark?.column ?? 1)
    }

    /// Whether the parser stopped in a line whose first character after spaces is a tab.
    private static func isTab(_ mark: Mark, of text: String) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: mark.line, omittingEmptySubsequences: false)
        guard mark.line >= 1, mark.line <= lines.count else { return false }
        return lines[mark.line - 1].prefix(max(1, mark.column)).drop { $0 == " " }.first == "\t"
    }

    /// Says what the parser refused. The text is not quoted, because it may hold a password.
    private func describe(_ error: YamlError) -> ConfigurationError {
        switch error {
        case .scanner(_, _, let mark, let text) where Self.isTab(mark, of: text):
            return ConfigurationError(
                origin: origin(mark.line, mark.column), message: "a tab indents here: YAML indents with spaces only")
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let detail = context.map { " (\($0.text) at line \($0.mark.line))" } ?? ""
            return ConfigurationError(origin: origin(mark.line, mark.column), message: "bad YAML: \(problem)\(detail)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "\"\($0)\"" }.joined(separator: ", ")
            return ConfigurationError(
                origin: origin(context.mark.line, context.mark.column),
                message: "\(names) is written more than once in one mapping")
        case .reader(let problem, _, _, _):
            return ConfigurationError(origin: origin(1, 1), message: "bad YAML: \(problem)")
        default:
            return ConfigurationError(origin: origin(1, 1), message: "cannot be read as YAML")
        }
    }
}
