import PushModel
import RabbitMQ
import Text

/// How the `broker` section is read.
extension ConfigurationBuilder {
    /// Reads the section; each address is judged where it stands, also for whether it may be plaintext.
    func broker(_ section: SettingReader) -> BrokerConfiguration {
        let allowsPlaintext = section.value("allow_plaintext", default: false, SettingParsers.boolean)
        var supplements: AMQPEndpoint.Supplements = []
        if section.present("password_file") != nil { supplements.insert(.password) }
        if section.section("tls").present("cert_file") != nil { supplements.insert(.certificate) }
        let uris = section.list("uri") { (text: String) throws(Rejection) -> SecretText in
            try SettingParsers.brokerAddress(text, supplementedBy: supplements, allowsPlaintext: allowsPlaintext)
        }
        if let uris, uris.isEmpty, case .list(let written)? = section.present("uri")?.content, written.isEmpty {
            section.reject(section.origin(of: "uri"), "\(section.name(of: "uri")): at least one address is needed")
        }
        let heartbeat = section.value("heartbeat", default: .seconds(15)) {
            (text: String) throws(Rejection) -> Duration in
            let value = try SettingParsers.duration(.seconds(1)...(.seconds(600)))(text)
            guard value.wholeMilliseconds % 1000 == 0 else {
                throw Rejection("\(text) is not a whole number of seconds")
            }
            return value
        }
        let management = section.optional("management") { (text: String) throws(Rejection) -> SecretText in
            try SettingParsers.managementAddress(text, allowsPlaintext: allowsPlaintext)
        }
        return BrokerConfiguration(
            uris: uris?.map(\.value) ?? [SecretText("amqp://guest:guest@localhost:5672/")],
            uriFile: environment[ConfigurationSchema.brokerURIFile].flatMap { $0.isEmpty ? nil : $0 },
            passwordFile: passwordFile(section), allowsPlaintext: allowsPlaintext,
            management: management?.value, heartbeat: heartbeat, tls: brokerTLS(section.section("tls")))
    }

    /// The file with the password, which must hold one already.
    private func passwordFile(_ section: SettingReader) -> String? {
        guard let path = file("password_file", of: section) else { return nil }
        do throws(TextFile.Failure) {
            _ = try TextFile.firstLine(of: path)
            return path
        } catch {
            section.reject(
                section.origin(of: "password_file"),
                "\(section.name(of: "password_file")): cannot use \(path): \(error.reason)")
            return nil
        }
    }

    private func brokerTLS(_ section: SettingReader) -> BrokerTLSConfiguration {
        for (one, other) in [("cert_file", "key_file"), ("key_file", "cert_file")]
        where section.present(one) != nil && section.present(other) == nil {
            section.reject(section.origin(of: one), "\(section.name(of: one)): needs \(other) beside it")
        }
        return BrokerTLSConfiguration(
            caFile: file("ca_file", of: section), certFile: file("cert_file", of: section),
            keyFile: file("key_file", of: section))
    }
}

extension BrokerConfiguration {
    /// Reads addresses that a file holds: one, or several with commas or line ends between them, or a JSON list.
    ///
    /// - Parameter path: The file, as `MARTLET_BROKER_URI_FILE` names it.
    /// - Returns: Addresses that were not looked at yet.
    /// - Throws: `invalidURI` without a URI.
    static func addresses(in path: String) throws(AMQPError) -> [SecretText] {
        let problems = ConfigurationProblems()
        var root = ConfigurationNode(content: .null, origin: .defaults)
        EnvironmentOverlay(environment: [ConfigurationSchema.brokerURIFile: path], problems: problems).apply(to: &root)
        let section = SettingReader(node: root, path: "", problems: problems).section("broker")
        let uris = section.list("uri") { SecretText($0) } ?? []
        if let problem = problems.errors.first { throw AMQPError(.invalidURI, "\(problem)") }
        guard !uris.isEmpty else { throw AMQPError(.invalidURI, "the file \(path) holds no address") }
        return uris.map(\.value)
    }
}
