import ArgumentParser
import FoundationEssentials
import PushModel
import PushWorker
import RabbitMQ
import Topology
import WorkerSettings

/// The option that names the configuration of a command.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The worker's configuration file; MARTLET_ variables win over it and can replace it.", valueName: "file"))
    var config: String?

    /// Whether variables configure a worker: whether any is set beside those about the broker and `MARTLET_CONTEXT`,
    /// which other commands use, too.
    ///
    /// - Parameter environment: The variables.
    static func isConfigured(by environment: [String: String]) -> Bool {
        environment.keys.contains {
            $0.hasPrefix("MARTLET_") && !$0.hasPrefix("MARTLET_BROKER_") && $0 != ContextStore.variable
        }
    }

    /// Loads the configuration: from the named file, else from that of the selected context, and from variables.
    ///
    /// - Parameters:
    ///   - need: What the command needs of it.
    ///   - instance: The name that a running worker already has; nil for a new name where none is configured.
    ///   - connects: Whether its broker is asked, so that its login goes there. False where only its routes count.
    /// - Returns: The checked configuration.
    /// - Throws: `missingInput` where the file cannot be read, else `configuration` with every fault.
    func load(
        for need: ConfigurationLoader.Need, naming instance: String? = nil, connects: Bool = true
    ) throws(CommandFailure) -> WorkerConfiguration {
        switch try read(for: need, naming: instance, connects: connects) {
        case .success(let configuration): return configuration
        case .failure(let errors):
            let count = errors.all.count
            throw CommandFailure(.configuration, "\(errors)\n\(count) \(count == 1 ? "error" : "errors")")
        }
    }

    /// Loads the configuration as ``load(for:naming:connects:)`` does.
    ///
    /// - Returns: The checked configuration, or every fault in it.
    /// - Throws: `missingInput` where the file cannot be read, `configuration` where nothing names one, and where its
    ///   login would go to another broker.
    func read(
        for need: ConfigurationLoader.Need, naming instance: String? = nil, connects: Bool = true
    ) throws(CommandFailure) -> Result<WorkerConfiguration, ConfigurationErrors> {
        let environment = ProcessInfo.processInfo.environment
        let config = config ?? ContextStore.configuration
        if let config, !FileManager.default.isReadableFile(atPath: config) {
            throw CommandFailure(
                .missingInput, "cannot read the configuration \(config)",
                remedy: "martlet config example prints one with every key.")
        }
        if config == nil, !Self.isConfigured(by: environment) {
            if let obstacle = ContextStore.obstacle { throw obstacle }
            throw CommandFailure(
                .configuration, "no configuration is given, and so no routes",
                remedy:
                    "Name the file with --config, or set MARTLET_ROUTES and others; martlet config example prints a "
                    + "file with every key.")
        }
        if connects, let config, let conflict = conflict(of: config, environment) { throw conflict }
        return ConfigurationLoader.load(
            file: config, environment: environment, need: need,
            instanceName: { instance ?? ConfigurationLoader.generatedInstanceName() })
    }

    /// Why a file does not go with the broker of the selected context: the file's login is for a broker of its own. Nil
    /// where the context names no broker, and where its own settings take the place of all those of the file.
    private func conflict(of file: String, _ environment: [String: String]) -> CommandFailure? {
        guard let context = ContextStore.broker else { return nil }
        // Whoever put file and address into one context meant them to go together. But the file's password would win
        // over the one in the address.
        let isContexts = config == nil
        let settings = ConfigurationLoader.settingsOfOneBroker(in: file, environment: environment)
        guard let setting = settings.first(where: { !isContexts || $0.name == "broker.password_file" }) else {
            return nil
        }
        return CommandFailure(
            .configuration,
            "\(setting.origin): \(setting.name) is for the broker of this file, and the address would be that of the "
                + "context \(context)",
            remedy: isContexts
                ? "Add the context again: with --broker-password-file, or without --broker for the broker of the file."
                : "Say where the broker of this file is: with broker.uri in it, or with MARTLET_BROKER_URI.")
    }
}

extension WorkerConfiguration {
    /// The virtual host of the first broker, which all of them share.
    func virtualHost() throws(CommandFailure) -> String {
        do throws(AMQPError) {
            return try broker.endpoints().first?.virtualHost ?? "/"
        } catch {
            throw CommandFailure(.configuration, "broker.uri: \(error.message)")
        }
    }

    /// The endpoints of the broker, in the order in which to try them.
    func brokerEndpoints() throws(CommandFailure) -> [AMQPEndpoint] {
        do throws(AMQPError) {
            return try broker.endpoints()
        } catch {
            throw CommandFailure(.configuration, "broker.uri: \(error.message)")
        }
    }

    /// The broker objects that this configuration needs.
    func topology() throws(CommandFailure) -> BrokerTopology {
        topology(virtualHost: try virtualHost())
    }

    /// A client of the broker's management API.
    ///
    /// - Parameter address: The address from the command line; nil for that of the configuration, else the broker's host
    ///   and login with the usual port.
    func managementClient(_ address: String? = nil) throws(CommandFailure) -> ManagementClient {
        let given = address.map { SecretText($0) } ?? broker.management
        guard let address = try brokerEndpoints().first.flatMap({ ManagementAddress.complete(given, beside: $0) })
        else {
            throw CommandFailure(
                .configuration, "broker.management is not set, and a client certificate is no login for it")
        }
        return try ManagementClient.at(address)
    }
}

extension ManagementClient {
    /// A client of the management API at an address.
    ///
    /// - Parameter address: The address, with user and password.
    static func at(_ address: SecretText) throws(CommandFailure) -> ManagementClient {
        do throws(ManagementError) {
            return try ManagementClient(address: address)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The exchanges, queues, bindings and policies that a virtual host has.
    ///
    /// - Parameter virtualHost: Its name.
    /// - Throws: The failure of the management API as a failure of the command.
    func picture(of virtualHost: String) async throws(CommandFailure) -> LiveTopology {
        do throws(ManagementError) {
            return try await live(virtualHost: virtualHost)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    /// The failure that a command ends with when the management API fails.
    init(_ error: ManagementError) {
        let status = CommandStatus(rawValue: error.exitCode) ?? .internalFault
        self.init(
            status, error.message,
            remedy: error.code == .unreachable
                ? "Enable it with: rabbitmq-plugins enable rabbitmq_management; or use martlet topology render." : nil)
    }
}
