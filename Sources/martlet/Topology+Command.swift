import ArgumentParser
import PushModel
import PushWorker

/// `martlet topology`: exchanges, queues, bindings and policies.
struct TopologyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topology",
        abstract: "Render, apply and check the broker's exchanges, queues, bindings and policies.",
        discussion: """
            A worker declares nothing. These commands make what the routes of its configuration need.

            Examples:
              martlet topology render -c worker.yaml > definitions.json
              rabbitmqctl import_definitions definitions.json
              martlet topology apply -c worker.yaml
              martlet topology check -c worker.yaml
            """,
        subcommands: [Render.self])

    /// `martlet topology render`.
    struct Render: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a definitions file for rabbitmqctl import_definitions or load_definitions.")

        @OptionGroup var source: ConfigurationOptions
        @Option(help: "The virtual host. (default: that of broker.uri)") var vhost: String?

        func run() throws {
            let configuration = try source.load()
            let host = try vhost ?? configuration.virtualHost()
            // The text ends with a line end of its own, which printing a line adds.
            Console.data(String(configuration.topology(virtualHost: host).definitions().dropLast()))
        }
    }
}
