import WorkerSettings

/// The first option or command of a command line that does not exist: a pure value.
struct UnknownWord: Equatable, CustomStringConvertible {
    /// The command it was given to, as `martlet push`.
    let command: String
    /// A sentence with the unknown word, and the nearest word that exists.
    let description: String

    /// Looks for the first unknown word; nil where every word is known.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name.
    ///   - root: All commands.
    init?(in arguments: [String], of root: CommandTree) {
        var path = [root]
        var words = arguments[...]
        while let word = words.popFirst(), word != "--" {
            if word.hasPrefix("-"), word.utf8.count > 1 {
                let known = path.reduce(into: path.last?.standIn?.options ?? [:]) { known, command in
                    known.merge(command.options) { known, _ in known }
                }
                guard let takesValue = Self.takesValue(word, known) else {
                    self.init(option: word, path, known)
                    return
                }
                if takesValue { words = words.dropFirst() }
            } else if let command = path.last?.subcommands.first(where: { $0.name == word }) {
                path.append(command)
            } else if path.last?.takesWords != true, path.last?.standIn?.takesWords != true {
                self.init(word: word, path)
                return
            }
        }
        return nil
    }

    private init(option: String, _ path: [CommandTree], _ known: [String: Bool]) {
        let name = option.split(separator: "=", maxSplits: 1).first.map(String.init) ?? option
        let nearest = name.hasPrefix("--") ? Suggestion.nearest(to: name, among: known.keys.sorted()) : nil
        command = path.map(\.name).joined(separator: " ")
        description = "unknown option '\(name.printable)'.\(nearest.map { " Did you mean '\($0)'?" } ?? "")"
    }

    private init(word: String, _ path: [CommandTree]) {
        command = path.map(\.name).joined(separator: " ")
        let names = path.last?.subcommands.filter { !$0.isHidden }.map(\.name) ?? []
        guard !names.isEmpty else {
            description = "unexpected word '\(word.printable)': \(command) takes options only"
            return
        }
        let advice =
            Suggestion.nearest(to: word, among: names).map { "Did you mean '\($0)'?" }
            ?? "There are \(names.joined(separator: ", "))."
        description = "unknown command '\(word.printable)'. \(advice)"
    }

    /// Whether the next word is the option's value; nil for an option that does not exist.
    private static func takesValue(_ word: String, _ known: [String: Bool]) -> Bool? {
        if word.hasPrefix("--") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return known[String(parts[0])].map { $0 && parts.count == 1 }
        }
        // In -ofile and -nw the first letter names the option. A word such as -5 is a value, not an option.
        let letters = word.dropFirst()
        guard let first = letters.first, !first.isNumber else { return false }
        return known["-\(first)"].map { $0 && letters.count == 1 }
    }
}
