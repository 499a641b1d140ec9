/// Checks a tree against ``ConfigurationSchema``: unknown keys, and values of another shape than the key has.
struct ShapeCheck {
    /// Where problems go.
    let problems: ConfigurationProblems

    /// Checks the mapping at a path against the keys it may have.
    func check(_ node: ConfigurationNode, keys: [ConfigurationKey], path: String) {
        guard case .mapping(let entries) = node.content else {
            if !node.isNull {
                problems.add(node.origin, "\(path.isEmpty ? "" : path + ": ")expected a mapping, found \(node.shape)")
            }
            return
        }
        for entry in entries {
            let name = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            guard let key = keys.first(where: { $0.name == entry.key }) else {
                let hint = Suggestion.sentence(for: entry.key, among: keys.map(\.name))
                problems.add(entry.origin, "\(name): unknown key.\(hint)")
                continue
            }
            check(entry.value, key: key, path: name)
        }
    }

    private func check(_ node: ConfigurationNode, key: ConfigurationKey, path: String) {
        switch key.shape {
        case .value, .values:
            // Which scalars are right is for the reader of the setting.
            return
        case .section(let keys):
            check(node, keys: keys, path: path)
        case .records(let keys):
            guard !node.isNull else { return }
            guard case .list(let entries) = node.content else {
                problems.add(node.origin, "\(path): expected a list of mappings, found \(node.shape)")
                return
            }
            for (index, entry) in entries.enumerated() {
                if entry.isNull {
                    problems.add(entry.origin, "\(path)[\(index)]: expected a mapping, found nothing")
                }
                check(entry, keys: keys, path: "\(path)[\(index)]")
            }
        }
    }
}
