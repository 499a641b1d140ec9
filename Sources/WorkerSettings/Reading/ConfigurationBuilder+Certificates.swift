import PushModel
import TLS

/// Certificate credentials, and what a route may do with one.
extension ConfigurationBuilder {
    /// Reads a credential of kind `certificate`; the certificate itself is read too, for routes are checked against it.
    func certificate(_ entry: SettingReader, name: SettingReader.Setting<String>?) -> PlacedCredential? {
        for key in ["key_id", "team_id"] where entry.present(key) != nil {
            entry.reject(entry.origin(of: key), "\(entry.name(of: key)): belongs to kind token, not certificate")
        }
        let source: CertificateCredentialConfiguration.Source?
        let place: ConfigurationOrigin
        if entry.present("file") != nil {
            source = container(entry, credential: name?.value)
            place = entry.origin(of: "file")
        } else {
            source = pair(entry, credential: name?.value)
            place = entry.origin(of: "cert_file")
        }
        guard let name else { return nil }
        // Even with a bad part the name counts, so that routes do not complain about it as well.
        let configuration = CertificateCredentialConfiguration(
            name: name.value, source: source ?? .pem(certificateFile: "", keyFile: ""))
        var placed = PlacedCredential(value: .certificate(configuration), origin: name.origin)
        guard source != nil, !problems.unusableCredentials.contains(name.value) else { return placed }
        do throws(TLSError) {
            let facts = try configuration.identity().facts()
            placed.facts = facts
            if facts.topics.isEmpty {
                problems.add(
                    place, "\(entry.path): \(facts.subject) names no topic: this is not a certificate for APNs",
                    credential: name.value)
            }
        } catch {
            problems.add(place, "\(entry.path): \(error.message)", credential: name.value)
        }
        return placed
    }

    private func container(_ entry: SettingReader, credential: String?) -> CertificateCredentialConfiguration.Source? {
        for key in ["cert_file", "key_file"] where entry.present(key) != nil {
            entry.reject(
                entry.origin(of: key), "\(entry.name(of: key)): give either file, or cert_file and key_file, not both")
        }
        let password = entry.present("password_file") != nil
        let passwordFile = file("password_file", of: entry, credential: credential)
        guard let path = file("file", of: entry, credential: credential), !password || passwordFile != nil else {
            return nil
        }
        return .pkcs12(file: path, passwordFile: passwordFile)
    }

    private func pair(_ entry: SettingReader, credential: String?) -> CertificateCredentialConfiguration.Source? {
        if entry.present("password_file") != nil {
            entry.reject(
                entry.origin(of: "password_file"), "\(entry.name(of: "password_file")): belongs to file, a PKCS#12 file"
            )
        }
        let isEmpty = entry.present("cert_file") == nil && entry.present("key_file") == nil
        if isEmpty {
            entry.reject(entry.origin(of: "file"), "\(entry.path): needs file, or cert_file and key_file")
            return nil
        }
        for key in ["cert_file", "key_file"] where entry.present(key) == nil {
            entry.reject(entry.origin(of: key), "\(entry.name(of: key)): is required")
        }
        let certificateFile = file("cert_file", of: entry, credential: credential)
        let keyFile = file("key_file", of: entry, credential: credential)
        guard let certificateFile, let keyFile else { return nil }
        return .pem(certificateFile: certificateFile, keyFile: keyFile)
    }

    /// Checks what a route wants against what its credential is for.
    ///
    /// What a file holds can change at any time, so a certificate that is not for the route keeps no other route from
    /// working.
    func check(
        _ entry: SettingReader, route: SettingReader.Setting<String>?, topics: [SettingReader.Setting<String>],
        environment: SettingReader.Setting<APNSEnvironment>?, omitTopic: SettingReader.Setting<Bool>?,
        against placed: PlacedCredential
    ) {
        if omitTopic?.value == true, case .token = placed.value, let origin = omitTopic?.origin {
            entry.reject(
                origin, "\(entry.name(of: "omit_topic")): needs a certificate: with a token each push names its topic")
        }
        guard let facts = placed.facts, !facts.topics.isEmpty else { return }
        let certificate = "the certificate of \"\(placed.value.name)\""
        let refuse = { (origin: ConfigurationOrigin, key: String, reason: String) in
            let message = "\(entry.name(of: key)): \(certificate) \(reason)"
            // A route without a name is refused for that.
            if let route { problems.add(origin, message, route: route.value) } else { problems.add(origin, message) }
        }
        for topic in topics where !facts.covers(topic.value) {
            refuse(topic.origin, "topics", facts.isNot(for: topic.value))
        }
        if let environment, !facts.isFor(environment.value) {
            refuse(environment.origin, "environment", facts.isOnlyForAnother(than: environment.value))
        }
        if let omitTopic, omitTopic.value, let reason = facts.needsTopic {
            refuse(omitTopic.origin, "omit_topic", reason)
        }
    }
}
