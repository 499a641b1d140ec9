/// Checks a tree against ``ConfigurationSchema``: unknown keys, and values of another shape than the key has.
struct ShapeCheck {
    /// Where problems go.
    let problems: ConfigurationProblems

    /// Checks a mapping and what is below it.
    ///
    /// - Parameters:
    ///   - node: The mapping.
    ///   - path: Its path, with `[]` after lists of mappings; empty for the root.
    ///   - name: The path with the numbers of entries instead of `[]`, for messages.
    func check(_ node: ConfigurationNode, path: String = "", name: String = "") {
        guard case .mapping(let entries) = node.content else {
            if !node.isNull {
                problems.add(node.origin, "\(name.isEmpty ? "" : name + ": ")expected a mapping, found \(node.shape)")
            }
            return
        }
        for entry in entries {
            let below = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            let name = name.isEmpty ? entry.key : "\(name).\(entry.key)"
            let keys = ConfigurationSchema.keys(of: path)
            guard keys.contains(entry.key), let shape = ConfigurationSchema.shape(of: below) else {
                let hint = Suggestion.sentence(for: entry.key, among: keys)
                problems.add(entry.origin, "\(name): unknown key.\(hint)")
                continue
            }
            switch shape {
            case .value, .values: break  // Which scalars are right is for the reader of the setting.
            case .section: check(entry.value, path: below, name: name)
            case .records: checkRecords(entry.value, path: below, name: name)
            }
        }
    }

    private func checkRecords(_ node: ConfigurationNode, path: String, name: String) {
        guard !node.isNull else { return }
        guard case .list(let entries) = node.content else {
            problems.add(node.origin, "\(name): expected a list of mappings, found \(node.shape)")
            return
        }
        for (index, entry) in entries.enumerated() {
            if entry.isNull { problems.add(entry.origin, "\(name)[\(index)]: expected a mapping, found nothing") }
            check(entry, path: "\(path)[]", name: "\(name)[\(index)]")
        }
    }
}
