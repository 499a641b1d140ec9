import ArgumentParser
import WorkerSettings

/// `martlet config`: prints what can be configured.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print an example of the configuration, or a table of its keys.",
        discussion: """
            Examples:
              martlet config example > martlet.yaml
              martlet config keys | grep timeout
            """,
        subcommands: [Example.self, Keys.self])

    /// `martlet config example`.
    struct Example: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a configuration file that has every key with its default and its meaning.")

        func run() {
            // The text ends with a line end, and so does every printed line. One of the two must go.
            Console.data(Array(ExampleFile.text.utf8.dropLast()))
        }
    }

    /// `martlet config keys`.
    struct Keys: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a table of every key in Markdown: type, default, range and meaning.")

        func run() {
            Console.data(Array(KeyTable.text.utf8.dropLast()))
        }
    }
}
