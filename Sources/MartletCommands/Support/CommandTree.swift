import ArgumentParser

/// What command lines may hold, as the commands declare it.
struct CommandTree: Equatable {
    /// The command's name.
    var name: String
    /// Its options by their spelling, such as `--topic` and `-o`, and whether a value follows.
    var options: [String: Bool] = [:]
    /// Whether it takes words that are not options.
    var takesWords = false
    /// The commands under it.
    var subcommands: [CommandTree] = []
    /// Whether help does not show it.
    var isHidden = false
    /// The one of them that is meant without a name.
    var defaultSubcommand: String?

    /// Reads what the argument parser says of a command and of those under it.
    ///
    /// - Parameter root: The command.
    init?(_ root: any ParsableCommand.Type) {
        guard let command = (try? JSON(reading: Array(root._dumpHelp().utf8)))?["command"] else { return nil }
        self.init(command)
        noteDefaults(of: root)
    }

    /// Takes in what the argument parser does not say: which command is meant without a name.
    private mutating func noteDefaults(of type: any ParsableCommand.Type) {
        defaultSubcommand = type.configuration.defaultSubcommand?._commandName
        for type in type.configuration.subcommands {
            guard let position = subcommands.firstIndex(where: { $0.name == type._commandName }) else { continue }
            subcommands[position].noteDefaults(of: type)
        }
    }

    /// A tree from its parts.
    init(
        _ name: String, options: [String: Bool] = [:], takesWords: Bool = false, subcommands: [CommandTree] = [],
        defaultSubcommand: String? = nil
    ) {
        self.name = name
        self.options = options
        self.takesWords = takesWords
        self.subcommands = subcommands
        self.defaultSubcommand = defaultSubcommand
    }

    private init(_ command: JSON) {
        name = command["commandName"]?.text ?? ""
        if case .boolean(false) = command["shouldDisplay"] { isHidden = true }
        subcommands = (command["subcommands"]?.elements ?? []).map { CommandTree($0) }
        for argument in command["arguments"]?.elements ?? [] {
            let kind = argument["kind"]?.text
            if kind == "positional" { takesWords = true }
            for spelling in argument["names"]?.elements ?? [] {
                let dashes = spelling["kind"]?.text == "long" ? "--" : "-"
                options[dashes + (spelling["name"]?.text ?? "")] = kind == "option"
            }
        }
    }

    /// The command that is meant without a name; nil without one.
    var standIn: CommandTree? { subcommands.first { $0.name == defaultSubcommand } }
}
