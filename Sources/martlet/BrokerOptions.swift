import ArgumentParser
import FoundationEssentials
import PushWorker
import RabbitMQ

/// Where the broker is: the same options for every command that talks to one.
struct BrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            AMQP URI of the broker, or several with commas. A password here is visible to other users of this machine: better set \
            MARTLET_BROKER_URI, or MARTLET_BROKER_URI_FILE to a file that holds it.
            (default: amqp://guest:guest@localhost:5672/)
            """, valueName: "uri"))
    var broker: String?

    @Option(
        name: .customLong("broker-ca-file"),
        help: "Certificates that may vouch for the broker, for amqps. (default: the system's)")
    var caFile: String?
    @Option(name: .customLong("broker-cert-file"), help: "Client certificate for amqps.") var certificateFile: String?
    @Option(name: .customLong("broker-key-file"), help: "The client certificate's private key.") var keyFile: String?

    /// What was given, for connecting.
    var target: BrokerTarget {
        BrokerTarget(uri: broker, caFile: caFile, certificateFile: certificateFile, keyFile: keyFile)
    }
}

/// Which broker is meant, as far as it was said.
struct BrokerTarget {
    /// The URI, or several with commas; without one the environment names it.
    var uri: String?
    /// Certificates that may vouch for the broker.
    var caFile: String?
    /// The client certificate.
    var certificateFile: String?
    /// The client certificate's private key.
    var keyFile: String?

    /// The endpoints that options and environment describe, in the order in which to try them.
    /// - Parameter environment: The process's variables.
    /// - Returns: Checked endpoints, at least one.
    /// - Throws: `usage` for a wrong `--broker`, `configuration` for a wrong variable, `missingInput` for a missing file.
    func endpoints(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> [AMQPEndpoint] {
        let (text, origin, fault) = try source(environment)
        let files = AMQPTLSFiles(
            caFile: caFile ?? environment["MARTLET_BROKER_TLS_CA_FILE"],
            certFile: certificateFile ?? environment["MARTLET_BROKER_TLS_CERT_FILE"],
            keyFile: keyFile ?? environment["MARTLET_BROKER_TLS_KEY_FILE"])
        for file in [files.caFile, files.certFile, files.keyFile].compactMap(\.self)
        where !FileManager.default.isReadableFile(atPath: file) {
            throw CommandFailure(.missingInput, "cannot read \(file)")
        }
        var endpoints: [AMQPEndpoint] = []
        for uri in Self.split(text) {
            do throws(AMQPError) {
                var endpoint = try AMQPEndpoint.parse(uri: uri)
                endpoint.tls.caFile = files.caFile ?? endpoint.tls.caFile
                endpoint.tls.certFile = files.certFile ?? endpoint.tls.certFile
                endpoint.tls.keyFile = files.keyFile ?? endpoint.tls.keyFile
                endpoints.append(endpoint)
            } catch {
                throw CommandFailure(fault, "\(origin): \(error.message)")
            }
        }
        return endpoints.shuffled()
    }

    /// The URIs of a list with commas; a comma without a scheme behind it belongs to the URI before it.
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

    /// The URI's text, where it was found, and what a fault in it means.
    private func source(_ environment: [String: String]) throws(CommandFailure) -> (String, String, CommandStatus) {
        if let uri { return (uri, "--broker", .usage) }
        if let text = environment["MARTLET_BROKER_URI"], !text.isEmpty {
            return (text, "MARTLET_BROKER_URI", .configuration)
        }
        if let path = environment["MARTLET_BROKER_URI_FILE"], !path.isEmpty {
            let bytes = try LineReader(path: path).everything(limit: 64 << 10)
            let text = String(decoding: bytes, as: UTF8.self)
            return (String(text.prefix { !$0.isNewline }), path, .configuration)
        }
        return ("amqp://guest:guest@localhost:5672/", "default", .configuration)
    }
}
