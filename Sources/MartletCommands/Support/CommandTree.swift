import ArgumentParser

/// The commands, options and words that a command line may have, as the commands declare them.
struct CommandTree: Equatable {
    /// The command's name.
    var name: String
    /// Its options by their spelling, such as `--topic` and `-o`. The value says whether the option takes a value.
    var options: [String: Bool] = [:]
    /// Whether it takes words that are not options.
    var takesWords = false
    /// The commands under it.
    var subcommands: [CommandTree] = []
    /// Whether the help leaves it out.
    var isHidden = false
    /// The name of the subcommand that runs where the command line names none.
    var defaultSubcommand: String?

    /// Reads what the argument parser says about a command and its subcommands.
    ///
    /// - Parameter root: The command.
    init?(_ root: any ParsableCommand.Type) {
        guard let command = (try? JSON(reading: Array(root._dumpHelp().utf8)))?["command"] else { return nil }
        self.init(command)
        noteDefaults(of: root)
    }

    /// Adds the default subcommands, which the argument parser's description lacks.
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

    /// The subcommand that runs where the command line names none; nil without a default.
    var standIn: CommandTree? { subcommands.first { $0.name == defaultSubcommand } }
}
