import EventLoop
import PushModel
import RabbitMQ

/// How the `broker` section is read.
extension ConfigurationBuilder {
    /// Reads the section. Each address is checked, also for whether it may be plaintext; problems name the place of the
    /// address.
    func broker(_ root: SettingReader) -> BrokerConfiguration {
        let keys = keys.broker
        let allowsPlaintext = root.value(keys.allowPlaintext)
        let uris = root.value(keys.uri)
        var supplements: AMQPEndpoint.Supplements = []
        if root.isPresent(keys.passwordFile) { supplements.insert(.password) }
        if root.isPresent(keys.certFile) { supplements.insert(.certificate) }
        for uri in uris {
            if let problem = problem(brokerAddress: uri.value, supplements, allowsPlaintext) {
                problems.add(uri.origin, "\(uri.name): \(problem)")
            }
        }
        let endpoints = uris.compactMap {
            try? AMQPEndpoint.parse(uri: $0.value.revealed, supplementedBy: supplements)
        }
        if let uri = uris.last, let mistake = AMQPEndpoint.mistake(among: endpoints) {
            problems.add(uri.origin, "\(uri.name): \(mistake)")
        }
        let management = root.value(keys.management)
        do throws(Rejection) {
            if let management { try check(managementAddress: management, allowsPlaintext: allowsPlaintext) }
        } catch {
            root.reject(keys.management, error.message)
        }
        return BrokerConfiguration(
            uris: uris.map(\.value),
            uriFile: environment[BrokerConfiguration.uriFileVariable].flatMap { $0.isEmpty ? nil : $0 },
            passwordFile: brokerPassword(root), allowsPlaintext: allowsPlaintext, management: management,
            heartbeat: root.value(keys.heartbeat), tls: brokerTLS(root))
    }

    /// What is wrong with an AMQP URI, read as the connection will read it; nil if nothing is.
    ///
    /// [RabbitMQ URI specification](https://www.rabbitmq.com/docs/uri-spec)
    private func problem(
        brokerAddress: SecretText, _ supplements: AMQPEndpoint.Supplements, _ allowsPlaintext: Bool
    ) -> String? {
        do throws(AMQPError) {
            let endpoint = try AMQPEndpoint.parse(uri: brokerAddress.revealed, supplementedBy: supplements)
            guard !allowsPlaintext, endpoint.isExposed else { return nil }
            return PlaintextRule.message(host: endpoint.host, secure: "amqps://")
        } catch {
            return error.message
        }
    }

    /// Refuses text that is not the address of a management API, and a login that would cross the network in plaintext.
    private func check(managementAddress: SecretText, allowsPlaintext: Bool) throws(Rejection) {
        let address = try AddressText(managementAddress.revealed)
        guard ["http", "https"].contains(address.scheme) else { throw Rejection("must begin with http:// or https://") }
        guard !address.rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Rejection("must not carry a query or fragment")
        }
        let isExposed = address.scheme == "http" && !SocketAddress.isLoopback(host: address.host)
        guard allowsPlaintext || !isExposed || address.userInfo == nil else {
            throw Rejection(PlaintextRule.message(host: address.host, secure: "https://"))
        }
    }

    /// The file with the password. The file must exist, and its first line must not be empty.
    private func brokerPassword(_ root: SettingReader) -> String? {
        guard let path = file(keys.broker.passwordFile, of: root) else { return nil }
        do throws(TextFile.Failure) {
            _ = try TextFile.firstLine(of: path)
            return path
        } catch {
            root.reject(keys.broker.passwordFile, "cannot use \(path): \(error.reason)")
            return nil
        }
    }

    private func brokerTLS(_ root: SettingReader) -> BrokerTLSConfiguration {
        let (certFile, keyFile) = (keys.broker.certFile, keys.broker.keyFile)
        for (one, other) in [(certFile, keyFile), (keyFile, certFile)]
        where root.isPresent(one) && !root.isPresent(other) {
            root.reject(one, "needs \(other.facts.name) beside it")
        }
        return BrokerTLSConfiguration(
            caFile: file(keys.broker.caFile, of: root), certFile: file(certFile, of: root),
            keyFile: file(keyFile, of: root))
    }
}

extension BrokerConfiguration {
    /// The variable that names a file with the brokers' URIs.
    static let uriFileVariable = "MARTLET_BROKER_URI_FILE"

    /// Reads addresses from a file: one address, several with commas or line ends between them, or a JSON list.
    ///
    /// - Parameter path: The file, as `MARTLET_BROKER_URI_FILE` names it.
    /// - Returns: The addresses, not checked yet.
    /// - Throws: `invalidURI`; its message quotes no URI.
    static func addresses(in path: String) throws(AMQPError) -> [SecretText] {
        let problems = ConfigurationProblems()
        var root = ConfigurationNode(content: .null, origin: .defaults)
        EnvironmentOverlay(environment: [uriFileVariable: path], problems: problems).apply(to: &root)
        let uris = SettingReader(node: root, path: "", problems: problems).value(WorkerKeys.all.broker.uri)
        if let problem = problems.errors.first { throw AMQPError(.invalidURI, "\(problem)") }
        return uris.map(\.value)
    }
}
