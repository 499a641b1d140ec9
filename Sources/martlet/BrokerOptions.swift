import ArgumentParser
import FoundationEssentials
import PushWorker
import RabbitMQ

/// Where the broker is: the same options for every command that talks to one.
struct BrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            AMQP URI of the broker. A password here is visible to other users of this machine: better set \
            MARTLET_BROKER_URI, or MARTLET_BROKER_URI_FILE to a file that holds it.
            (default: amqp://guest:guest@localhost:5672/)
            """, valueName: "uri"))
    var broker: String?

    @Option(name: .customLong("broker-ca-file"), help: "Certificates that may vouch for the broker, for amqps. (default: the system's)")
    var caFile: String?
    @Option(name: .customLong("broker-cert-file"), help: "Client certificate for amqps.") var certificateFile: String?
    @Option(name: .customLong("broker-key-file"), help: "The client certificate's private key.") var keyFile: String?

    /// The endpoint that options and environment describe.
    /// - Parameter environment: The process's variables.
    /// - Returns: A checked endpoint.
    /// - Throws: `usage` for a wrong `--broker`, `configuration` for a wrong variable, `missingInput` for a missing file.
    func endpoint(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> AMQPEndpoint {
        let (text, origin, fault) = try source(environment)
        var endpoint: AMQPEndpoint
        do throws(AMQPError) {
            endpoint = try AMQPEndpoint.parse(uri: text)
        } catch {
            throw CommandFailure(fault, "\(origin): \(error.message)")
        }
        let files = AMQPTLSFiles(
            caFile: caFile ?? environment["MARTLET_BROKER_TLS_CA_FILE"] ?? endpoint.tls.caFile,
            certFile: certificateFile ?? environment["MARTLET_BROKER_TLS_CERT_FILE"] ?? endpoint.tls.certFile,
            keyFile: keyFile ?? environment["MARTLET_BROKER_TLS_KEY_FILE"] ?? endpoint.tls.keyFile)
        for file in [files.caFile, files.certFile, files.keyFile].compactMap(\.self) where !FileManager.default.isReadableFile(atPath: file) {
            throw CommandFailure(.missingInput, "cannot read \(file)")
        }
        endpoint.tls = files
        return endpoint
    }

    /// The URI's text, where it was found, and what a fault in it means.
    private func source(_ environment: [String: String]) throws(CommandFailure) -> (String, String, ExitStatus) {
        if let broker { return (broker, "--broker", .usage) }
        if let text = environment["MARTLET_BROKER_URI"], !text.isEmpty { return (text, "MARTLET_BROKER_URI", .configuration) }
        if let path = environment["MARTLET_BROKER_URI_FILE"], !path.isEmpty {
            let bytes = try LineReader(path: path).everything(limit: 64 << 10)
            let text = String(decoding: bytes, as: UTF8.self)
            return (String(text.prefix { !$0.isNewline }), path, .configuration)
        }
        return ("amqp://guest:guest@localhost:5672/", "default", .configuration)
    }
}
