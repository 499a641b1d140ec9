/// The example file: every key with its default, and a comment from its help. `config/martlet.yaml` has this text.
package enum ExampleFile {
    /// Where comments begin.
    private static let column = 36
    /// The longest line.
    private static let width = 120

    /// What stands above the keys.
    private static let header = """
        # A worker's configuration: every key, with its default. What stands in credentials and routes is an example: they
        # have no default.
        #
        # Each key has an environment variable that wins over this file: MARTLET_ and the path in capitals, such as
        # MARTLET_BROKER_URI, MARTLET_LOG_LEVEL or MARTLET_RETRY_TIERS=2s,15s. Lists of mappings are given as JSON text
        # (MARTLET_ROUTES='[{"name":…}]'); secrets can also be read from a file (MARTLET_BROKER_URI_FILE=/run/secrets/uri).
        # Files with the broker's URI or password and its certificates are read again for each connection. Files of
        # credentials are watched: a new one is proved on a connection of its own, then used, without a restart.
        # At SIGHUP a worker reads this file again: routes may come, go and change, and the log names what needs a restart.
        # Paths are relative to this file. Durations are a number and ms, s, m, h or d.
        # `martlet check --config martlet.yaml` reports everything that is wrong, with line and column.
        # `martlet config example` prints this file.

        """

    /// The file's text.
    package static var text: String { header + text(comments: true) }

    /// The keys with their values.
    ///
    /// - Parameter comments: Whether each has its help beside it.
    static func text(comments: Bool) -> String {
        var text = ""
        var open: [String] = []
        for facts in WorkerKeys.present {
            let sections = facts.path.split(separator: ".").dropLast().map(String.init)
            let common = zip(open, sections).prefix { $0 == $1 }.count
            if common == 0 { text += "\n" }
            for depth in common..<max(common, sections.count) {
                text += indent(sections[..<depth]) + sections[depth].prefix { $0 != "[" } + ":\n"
            }
            // The first key of an entry stands behind its dash.
            let isFirst = facts.records != nil && common < sections.count
            let start = isFirst ? indent(sections.dropLast()) + "  - " : indent(sections[...])
            let line = "\(start)\(facts.name): \(value(of: facts))"
            text += comments ? beside(line, remark(on: facts)) : line + "\n"
            open = sections
        }
        return text
    }

    /// The spaces before a key: 2 for each section, 4 for each list of mappings. The dash of an entry stands in the
    /// last 4.
    private static func indent(_ sections: ArraySlice<String>) -> String {
        sections.map { $0.hasSuffix("[]") ? "    " : "  " }.joined()
    }

    /// What the file sets a key to, as YAML.
    private static func value(of facts: KeyFacts) -> String {
        guard let words = (facts.example ?? facts.standard)?.map(quoted) else { return "null" }
        return facts.form.isList ? "[\(words.joined(separator: ", "))]" : words.joined()
    }

    /// A text as YAML: plain where it is a word or a number, else in quotes.
    private static func quoted(_ text: String) -> String {
        let isWord =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789./_-".unicodeScalars.contains($0)
            }
        return isWord ? text : "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// What the file says about a key: its help, its range, and what its default stands for.
    private static func remark(on facts: KeyFacts) -> String {
        let standard = facts.standard.map { $0 == [""] ? "\"\"" : $0.joined(separator: ", ") } ?? "null"
        let range = facts.form.range.isEmpty ? "" : " (\(facts.form.range))"
        let meaning = facts.meaning.isEmpty ? "" : "; \(standard): \(facts.meaning)"
        return (facts.help + range + meaning).filter { $0 != "`" }
    }

    /// A line with a comment beside it, broken between words.
    private static func beside(_ line: String, _ comment: String) -> String {
        var text = ""
        var current = line
        var isEmpty = true
        for word in comment.split(separator: " ") {
            if isEmpty && current.count >= column || current.count + 1 + word.count > width {
                text += current + "\n"
                current = ""
                isEmpty = true
            }
            if isEmpty { current += String(repeating: " ", count: column - current.count) + "#" }
            current += " " + word
            isEmpty = false
        }
        return text + current + "\n"
    }
}
