import PushModel
import TLS

/// Certificate credentials, and what a route may do with one.
extension ConfigurationBuilder {
    /// Reads a credential of kind `certificate`, and the certificate itself, because routes are checked against it.
    func certificate(_ entry: SettingReader, name: String?) -> KnownCredential? {
        let keys = keys.credentials
        for key in [keys.keyID, keys.teamID] where entry.isPresent(key) {
            entry.reject(key, "belongs to kind token, not certificate")
        }
        let isContainer = entry.isPresent(keys.file)
        let source = isContainer ? container(entry, credential: name) : pair(entry, credential: name)
        guard let name else { return nil }
        // Loading fails if a part is missing. The empty paths are never read.
        let configuration = CertificateCredentialConfiguration(
            name: name, source: source ?? .pem(certificateFile: "", keyFile: ""))
        var known = KnownCredential(value: .certificate(configuration))
        guard source != nil, !problems.unusableCredentials.contains(name) else { return known }
        let place = entry.origin(of: isContainer ? keys.file : keys.certFile)
        do throws(TLSError) {
            let facts = try configuration.identity().facts()
            known.facts = facts
            if facts.topics.isEmpty {
                problems.add(
                    place, "\(entry.path): \(facts.subject) names no topic: this is not a certificate for APNs",
                    credential: name)
            }
        } catch {
            problems.add(place, "\(entry.path): \(error.message)", credential: name)
        }
        return known
    }

    private func container(_ entry: SettingReader, credential: String?) -> CertificateCredentialConfiguration.Source? {
        let keys = keys.credentials
        for key in [keys.certFile, keys.keyFile] where entry.isPresent(key) {
            entry.reject(key, "give either file, or cert_file and key_file, not both")
        }
        let passwordFile = file(keys.passwordFile, of: entry, credential: credential)
        guard let path = file(keys.file, of: entry, credential: credential),
            passwordFile != nil || !entry.isPresent(keys.passwordFile)
        else { return nil }
        return .pkcs12(file: path, passwordFile: passwordFile)
    }

    private func pair(_ entry: SettingReader, credential: String?) -> CertificateCredentialConfiguration.Source? {
        let keys = keys.credentials
        if entry.isPresent(keys.passwordFile) { entry.reject(keys.passwordFile, "belongs to file, a PKCS#12 file") }
        guard entry.isPresent(keys.certFile) || entry.isPresent(keys.keyFile) else {
            problems.add(entry.origin(of: keys.file), "\(entry.path): needs file, or cert_file and key_file")
            return nil
        }
        entry.demand(keys.certFile)
        entry.demand(keys.keyFile)
        let certificateFile = file(keys.certFile, of: entry, credential: credential)
        let keyFile = file(keys.keyFile, of: entry, credential: credential)
        guard let certificateFile, let keyFile else { return nil }
        return .pem(certificateFile: certificateFile, keyFile: keyFile)
    }

    /// Checks what a route wants against what its credential is for.
    ///
    /// The content of a file can change at any time. So a certificate that is not for this route stops only this route.
    func check(
        _ entry: SettingReader, route: String?, topics: [Setting<String>], environment: APNSEnvironment?,
        omitTopic: Bool, against known: KnownCredential
    ) {
        let keys = keys.routes
        if omitTopic, case .token = known.value {
            entry.reject(keys.omitTopic, "needs a certificate: with a token each push names its topic")
        }
        guard let facts = known.facts, !facts.topics.isEmpty else { return }
        let refuse = { (origin: ConfigurationOrigin, name: String, reason: String) in
            let message = "\(name): the certificate of \"\(known.value.name)\" \(reason)"
            // A route without a name is refused in any case.
            if let route { problems.add(origin, message, route: route) } else { problems.add(origin, message) }
        }
        for topic in topics where !facts.covers(topic.value) {
            refuse(topic.origin, entry.name(of: keys.topics), facts.isNot(for: topic.value))
        }
        if let environment, !facts.isFor(environment) {
            let key = keys.environment
            refuse(entry.origin(of: key), entry.name(of: key), facts.isOnlyForAnother(than: environment))
        }
        if omitTopic, let reason = facts.needsTopic {
            refuse(entry.origin(of: keys.omitTopic), entry.name(of: keys.omitTopic), reason)
        }
    }
}
