import EventLoop
import FoundationEssentials
import PushModel
import PushWorker
import RabbitMQ
import Topology
import WorkerSettings

/// The broker that a command line names. The environment fills in the rest.
struct BrokerSettings {
    /// The broker's URI, or several with commas; nil lets the environment name the broker.
    var uri: String?
    /// Certificates that may vouch for the broker.
    var caFile: String?
    /// The client certificate.
    var certificateFile: String?
    /// The client certificate's private key.
    var keyFile: String?
    /// The file whose first line is the password.
    var passwordFile: String?
    /// Whether password and messages may leave this machine unencrypted.
    var allowsPlaintext = false

    /// The endpoints that options and environment describe, in the order in which to try them.
    ///
    /// - Parameter environment: The process's variables.
    /// - Returns: Checked endpoints, at least one.
    /// - Throws: `usage` for a wrong `--broker`, `configuration` for a wrong variable, `missingInput` for a file that
    ///   cannot be read.
    func endpoints(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> [AMQPEndpoint] {
        // An empty variable counts as not set.
        let environment = environment.filter { !$0.value.isEmpty }
        if let configuration = try contextConfiguration(environment) { return try configuration.brokerEndpoints() }
        let (text, origin, fault, companions) = try source(environment)
        let files = AMQPTLSFiles(
            caFile: caFile ?? companions["MARTLET_BROKER_TLS_CA_FILE"],
            certFile: certificateFile ?? companions["MARTLET_BROKER_TLS_CERT_FILE"],
            keyFile: keyFile ?? companions["MARTLET_BROKER_TLS_KEY_FILE"])
        for file in [files.caFile, files.certFile, files.keyFile].compactMap(\.self)
        where !FileManager.default.isReadableFile(atPath: file) {
            throw CommandFailure(.missingInput, "cannot read \(file)")
        }
        let password = try password(companions)
        let allowsPlaintext = allowsPlaintext || companions["MARTLET_BROKER_ALLOW_PLAINTEXT"] == "true"
        var supplements: AMQPEndpoint.Supplements = []
        if password != nil { supplements.insert(.password) }
        if files.certFile != nil { supplements.insert(.certificate) }
        var endpoints: [AMQPEndpoint] = []
        for uri in Self.split(text) {
            do throws(AMQPError) {
                var endpoint = try AMQPEndpoint.parse(uri: uri, supplementedBy: supplements)
                endpoint.password = password ?? endpoint.password
                endpoint.tls.caFile = files.caFile ?? endpoint.tls.caFile
                endpoint.tls.certFile = files.certFile ?? endpoint.tls.certFile
                endpoint.tls.keyFile = files.keyFile ?? endpoint.tls.keyFile
                endpoints.append(endpoint)
            } catch {
                throw CommandFailure(fault, "\(origin): \(error.message)")
            }
        }
        if let mistake = AMQPEndpoint.mistake(among: endpoints) { throw CommandFailure(fault, "\(origin): \(mistake)") }
        for endpoint in endpoints where endpoint.isExposed && !allowsPlaintext {
            throw CommandFailure(
                fault, "\(origin): the way to \(endpoint.host) is not encrypted",
                remedy:
                    "Write amqps://, or say --broker-allow-plaintext where everybody on the network may read passwords, "
                    + "device tokens and payloads.")
        }
        return endpoints.shuffled()
    }

    /// A client of the broker's management API.
    ///
    /// - Parameters:
    ///   - address: The address from the command line. Nil takes the variable that goes with the broker's variable,
    ///     else the broker's host and login with the usual port.
    ///   - endpoints: What ``endpoints(environment:)`` gave, because a password may come from a pipe, once.
    ///   - environment: The process's variables.
    /// - Throws: `usage` or `configuration` where the broker's URI gives no address with a login, `unreachable` for a
    ///   wrong address, `missingInput` for a file that cannot be read.
    func managementClient(
        _ address: String?, beside endpoints: [AMQPEndpoint],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> ManagementClient {
        let environment = environment.filter { !$0.value.isEmpty }
        if let configuration = try contextConfiguration(environment) {
            return try configuration.managementClient(address)
        }
        let (_, origin, fault, companions) = try source(environment)
        let given = (address ?? companions["MARTLET_BROKER_MANAGEMENT"]).map { SecretText($0) }
        guard let address = endpoints.first.flatMap({ ManagementAddress.complete(given, beside: $0) }) else {
            let setting =
                uri == nil
                ? ContextStore.broker.map {
                    "add the context again with it: martlet context add \($0) --broker URI --management URI"
                } : nil
            throw CommandFailure(
                fault, "\(origin) does not lead to the management API with a login",
                remedy: "Give --management, or "
                    + "\(setting ?? "set MARTLET_BROKER_MANAGEMENT beside MARTLET_BROKER_URI").")
        }
        let client = try ManagementClient.at(address)
        let place = client.location
        let allowsPlaintext = allowsPlaintext || companions["MARTLET_BROKER_ALLOW_PLAINTEXT"] == "true"
        guard place.isEncrypted || allowsPlaintext || SocketAddress.isLoopback(host: place.host) else {
            throw CommandFailure(
                fault, "the way to the management API at \(place.host) is not encrypted",
                remedy: "Write https://, or say --broker-allow-plaintext where everybody on the network may read the "
                    + "password.")
        }
        return client
    }

    /// The configuration that the selected context names instead of a broker; nil where something names a broker.
    private func contextConfiguration(_ environment: [String: String]) throws(CommandFailure) -> WorkerConfiguration? {
        guard uri == nil, environment["MARTLET_BROKER_URI"] == nil, environment["MARTLET_BROKER_URI_FILE"] == nil,
            let file = ContextStore.configuration
        else { return nil }
        var source = ConfigurationOptions()
        source.config = file
        return try source.load(for: .broker)
    }

    /// The URIs of a list with commas. A comma without a scheme after it is part of the URI before it.
    static func split(_ text: String) -> [String] {
        var uris: [String] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let last = uris.popLast() {
                uris += piece.contains("://") ? [last, piece] : ["\(last),\(piece)"]
            } else {
                uris.append(piece)
            }
        }
        return uris
    }

    /// The password that a file holds; nil where no file is named.
    private func password(_ environment: [String: String]) throws(CommandFailure) -> String? {
        guard let path = passwordFile ?? environment["MARTLET_BROKER_PASSWORD_FILE"] else { return nil }
        do throws(TextFile.Failure) {
            // A shell may give a pipe on the command line, but hardly in the environment.
            return try TextFile.firstLine(of: path, mayBePipe: passwordFile != nil)
        } catch {
            throw CommandFailure(.missingInput, "cannot use the password file \(path): \(error.reason)")
        }
    }

    /// The URI's text, its origin, the exit status for a fault in it, and the variables that go with it.
    ///
    /// The environment's password and certificates belong to the environment's broker. No other broker may get them.
    private func source(
        _ environment: [String: String]
    ) throws(CommandFailure) -> (text: String, origin: String, fault: CommandStatus, companions: [String: String]) {
        if let uri { return (uri, "--broker", .usage, [:]) }
        if let text = environment["MARTLET_BROKER_URI"] {
            // The selected context has set the variable.
            let origin = ContextStore.broker.map { "the context \($0)" } ?? "MARTLET_BROKER_URI"
            return (text, origin, .configuration, environment)
        }
        guard let path = environment["MARTLET_BROKER_URI_FILE"] else {
            if let obstacle = ContextStore.obstacle { throw obstacle }
            return ("amqp://guest:guest@localhost:5672/", "default", .configuration, [:])
        }
        do throws(TextFile.Failure) {
            return (try TextFile.firstLine(of: path), path, .configuration, environment)
        } catch {
            throw CommandFailure(.missingInput, "cannot use \(path): \(error.reason)")
        }
    }
}
