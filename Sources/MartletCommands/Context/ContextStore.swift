import ArgumentParser
import FoundationEssentials
import Glibc
import Synchronization
import WorkerSettings

/// The contexts of one person, and which of them is in use. They are kept in a file that only its owner can read.
struct ContextStore: Codable, Equatable {
    /// The name of the context in use; nil for none.
    var current: String?
    /// The contexts by their names.
    var contexts: [String: Context] = [:]

    /// The variable that names a context for one command. It wins over the context in use.
    static let variable = "MARTLET_CONTEXT"

    /// Where the file is: in `XDG_CONFIG_HOME`, else in `~/.config`; nil where neither variable is set.
    ///
    /// - Parameter environment: The process's variables.
    static func path(_ environment: [String: String]) -> String? {
        let home = environment["HOME"].map { "\($0)/.config" }
        return (environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? home).map {
            "\($0)/martlet/contexts.json"
        }
    }

    /// Reads the file. Without a file there are no contexts.
    ///
    /// - Throws: `configuration` where the file does not hold contexts, `missingInput` where it cannot be read.
    static func load(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> ContextStore {
        guard let path = path(environment), access(path, F_OK) == 0 else { return ContextStore() }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw CommandFailure(.missingInput, "cannot read the contexts in \(path)")
        }
        guard let store = try? JSONDecoder().decode(ContextStore.self, from: data) else {
            throw CommandFailure(
                .configuration, "\(path) does not hold contexts", remedy: "Mend it, or move it away and add new ones.")
        }
        return store
    }

    /// Writes the file again. Only its owner can read it, because a URI may hold a password.
    ///
    /// - Throws: `outputFailed`, or `configuration` where there is no home.
    func save(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
        guard let path = Self.path(environment) else {
            throw CommandFailure(.configuration, "neither XDG_CONFIG_HOME nor HOME says where contexts are kept")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let file = URL(filePath: path)
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let new = "\(path).new"
            let isMade = FileManager.default.createFile(
                atPath: new, contents: try encoder.encode(self) + Data("\n".utf8),
                attributes: [.posixPermissions: 0o600])
            guard isMade, rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw CommandFailure(.outputFailed, "cannot write the contexts to \(path)")
        }
    }

    /// The context that a command works with; nil for none.
    ///
    /// - Parameter environment: The process's variables. If one of those about a broker is set, no context counts at
    ///   all: a login meant for one broker goes to no other.
    /// - Throws: `configuration` where the variable names a context that does not exist.
    func selected(_ environment: [String: String]) throws(CommandFailure) -> (name: String, context: Context)? {
        guard Self.brokerVariables(environment).isEmpty, let name = chosen(environment) else { return nil }
        guard let context = contexts[name] else {
            throw CommandFailure(
                .configuration, "there is no context \"\(name.printable)\"",
                remedy: "See them with: martlet context ls")
        }
        return (name, context)
    }

    /// Why a command must not go to the usual broker: a context is chosen, and variables that do not say where the
    /// broker is keep it from counting. Nil where that is not so.
    ///
    /// - Parameter environment: The process's variables.
    func obstacle(_ environment: [String: String]) -> CommandFailure? {
        let variables = Self.brokerVariables(environment)
        guard let variable = variables.first, let name = chosen(environment), !variables.contains("MARTLET_BROKER_URI"),
            !variables.contains("MARTLET_BROKER_URI_FILE")
        else { return nil }
        return CommandFailure(
            .configuration, "the context \(name) is ignored because \(variable) is set",
            remedy: "Unset \(variables.joined(separator: ", ")). Or say where the broker is: with MARTLET_BROKER_URI, "
                + "--broker, or a configuration.")
    }

    private func chosen(_ environment: [String: String]) -> String? {
        environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 } ?? current
    }

    /// The variables about a broker that are set, sorted.
    private static func brokerVariables(_ environment: [String: String]) -> [String] {
        environment.filter { $0.key.hasPrefix("MARTLET_BROKER_") && !$0.value.isEmpty }.keys.sorted()
    }

    /// Sets the variables that the selected context stands for, for a command that uses it.
    ///
    /// The context is ignored if the command line names a broker, or a configuration file that says where the broker
    /// is: routes meant for one broker go to no other.
    ///
    /// - Parameter command: The command that is to run.
    /// - Throws: What `load(environment:)` and `selected(_:)` throw.
    static func apply(for command: any ParsableCommand) throws(CommandFailure) {
        guard let command = command as? any UsesContext, command.namedBroker == nil else { return }
        let environment = ProcessInfo.processInfo.environment
        let store = try load()
        guard let (name, context) = try store.selected(environment) else {
            return applied.withLock { $0.obstacle = store.obstacle(environment) }
        }
        if let file = command.namedConfiguration, ConfigurationLoader.saysWhereTheBrokerIs(file) { return }
        for (name, value) in context.variables { setenv(name, value, 1) }
        applied.withLock { $0 = Applied(broker: context.broker == nil ? nil : name, configuration: context.config) }
    }

    /// What the contexts mean for the command that runs.
    private struct Applied {
        var broker: String?
        var configuration: String?
        var obstacle: CommandFailure?
    }

    private static let applied = Mutex(Applied())

    /// The name of the selected context, where the context names the broker itself; nil for none.
    static var broker: String? { applied.withLock { $0.broker } }

    /// The worker's configuration file of the selected context; nil for none.
    static var configuration: String? { applied.withLock { $0.configuration } }

    /// The failure of a command that nothing but an ignored context would tell where to go; nil where none is ignored.
    static var obstacle: CommandFailure? { applied.withLock { $0.obstacle } }
}
