import ArgumentParser
import FoundationEssentials
import RabbitMQ

/// `martlet context`: gives brokers names, and chooses one.
struct ContextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context",
        abstract: "Give brokers names, and choose the one that commands talk to.",
        discussion: """
            The commands push, results, dead, route, campaign, control, topology, check, status and dashboard use the \
            chosen context. Workers never do. MARTLET_CONTEXT=NAME chooses another one for one command. --broker and the \
            variables MARTLET_BROKER_URI and MARTLET_BROKER_URI_FILE win over contexts. The file is \
            martlet/contexts.json in XDG_CONFIG_HOME or ~/.config.

            Examples:
              martlet context add staging --broker amqps://me@mq.staging.example.com \\
                  --broker-password-file ~/.mq
              martlet context use staging
              martlet context ls
            """,
        subcommands: [Add.self, Use.self, List.self, Remove.self])

    /// `martlet context add`.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a context, or replace one; the first becomes the chosen one.")

        @Argument(help: "Its name: letters, digits, dots, hyphens and underscores.") var name: String
        @OptionGroup(title: "Broker") var broker: BrokerOptions
        @Option(
            help: """
                The address of the management API, for topology, check, status and dashboard; the broker's user needs \
                no password in it. (default: port 15672 of the broker, 15671 with TLS)
                """)
        var management: String?
        @Option(name: .shortAndLong, help: "The worker's configuration file, for topology, route, check and status.")
        var config: String?

        func validate() throws {
            let isPlain = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard isPlain, (1...64).contains(name.utf8.count) else {
                throw ValidationError("A name has 1 to 64 letters, digits, dots, hyphens and underscores.")
            }
            if broker.broker == nil, config == nil { throw ValidationError("Say where: --broker, or --config.") }
        }

        func run() throws {
            // A broker that commands could not connect to must not get a name.
            if broker.broker != nil { _ = try broker.target.endpoints(environment: [:]) }
            var store = try ContextStore.load()
            store.contexts[name] = Context(
                broker: broker.broker, caFile: broker.caFile.map(Self.absolute),
                certificateFile: broker.certificateFile.map(Self.absolute), keyFile: broker.keyFile.map(Self.absolute),
                passwordFile: broker.passwordFile.map(Self.absolute),
                allowsPlaintext: broker.allowsPlaintext ? true : nil, management: management,
                config: config.map(Self.absolute))
            if store.current == nil { store.current = name }
            try store.save()
            let hint = store.current == name ? "it is in use" : "choose it with: martlet context use \(name)"
            Console.talk("context \(name) added; \(hint)")
        }

        /// A path that means the same from every directory.
        private static func absolute(_ path: String) -> String {
            path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        }
    }

    /// `martlet context use`.
    struct Use: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Choose a context, or none.")

        @Argument(help: "Its name; none for no context.") var name: String?

        func run() throws {
            var store = try ContextStore.load()
            if let name, store.contexts[name] == nil {
                throw CommandFailure(
                    .configuration, "there is no context \"\(name.printable)\"",
                    remedy: "See them with: martlet context ls")
            }
            store.current = name
            try store.save()
        }
    }

    /// `martlet context ls`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the contexts; the chosen one has a star. Passwords are not shown.")

        @OptionGroup var format: OutputOptions

        func run() throws {
            let store = try ContextStore.load()
            for (name, context) in store.contexts.sorted(by: { $0.key < $1.key }) {
                let isCurrent = name == store.current
                let places = BrokerSettings.split(context.broker ?? "").filter { !$0.isEmpty }.map(Self.redacted)
                if format.output == .json {
                    let line = JSON.object([
                        ("name", .text(name)), ("current", .boolean(isCurrent)),
                        ("broker", .array(places.map { .text($0) })), ("config", .optional(context.config)),
                    ])
                    Console.data(line.bytes)
                } else {
                    let place = places.isEmpty ? context.config ?? "" : places.joined(separator: ",")
                    Console.data("\(isCurrent ? "*" : " ") \(name.padded(to: 20)) \(place)")
                }
            }
        }

        private static func redacted(_ uri: String) -> String {
            (try? AMQPEndpoint.parse(uri: uri, supplementedBy: [.password, .certificate]))?.redactedDescription ?? "?"
        }
    }

    /// `martlet context rm`.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Remove a context.")

        @Argument(help: "Its name.") var name: String

        func run() throws {
            var store = try ContextStore.load()
            guard store.contexts.removeValue(forKey: name) != nil else {
                throw CommandFailure(
                    .configuration, "there is no context \"\(name.printable)\"",
                    remedy: "See them with: martlet context ls")
            }
            if store.current == name { store.current = nil }
            try store.save()
        }
    }
}
