import PushModel

/// Credentials and routes, which refer to each other by name.
extension ConfigurationBuilder {
    /// Reads `credentials`, and refuses names used twice.
    func credentials(_ root: SettingReader) -> [KnownCredential] {
        let keys = keys.credentials
        var names: [String: ConfigurationOrigin] = [:]
        return root.records("credentials").compactMap { entry in
            let name = entry.value(keys.name)
            if let name { refuseRepeated(name, of: keys.name, in: &names, what: "credential", entry) }
            switch entry.value(keys.kind) {
            case .token: return token(entry, name: name)
            case .certificate: return certificate(entry, name: name)
            case nil: return nil
            }
        }
    }

    private func token(_ entry: SettingReader, name: String?) -> KnownCredential? {
        let keys = keys.credentials
        for key in [keys.file, keys.passwordFile, keys.certFile] where entry.isPresent(key) {
            entry.reject(key, "belongs to kind certificate, not token")
        }
        for key in [keys.keyFile, keys.keyID, keys.teamID] { entry.demand(key) }
        let path = file(keys.keyFile, of: entry, credential: name)
        let (keyID, teamID) = (entry.value(keys.keyID), entry.value(keys.teamID))
        guard let name else { return nil }
        // Loading fails if a part is missing. The credential stays, so that its routes are still checked against it.
        return KnownCredential(
            value: .token(
                TokenCredentialConfiguration(
                    name: name, keyFile: path ?? "", keyID: keyID ?? "", teamID: teamID ?? "")))
    }

    /// Reads `routes`, and refuses repeated names, unknown credentials and topics claimed twice.
    func routes(_ root: SettingReader, credentials: [KnownCredential]) -> [RouteConfiguration] {
        let written = root.node["routes"]
        if written.map({ $0.isNull || $0.isEmptyList }) ?? true {
            problems.add(
                written?.origin ?? root.node.origin, "routes: at least one route is needed (or MARTLET_ROUTES)")
        }
        let known = credentialNames(root)
        var names: [String: ConfigurationOrigin] = [:]
        var claims = TopicClaims()
        return root.records("routes").compactMap { entry in
            route(entry, known: known, credentials: credentials, names: &names, claims: &claims)
        }
    }

    private func route(
        _ entry: SettingReader, known: [String], credentials: [KnownCredential],
        names: inout [String: ConfigurationOrigin], claims: inout TopicClaims
    ) -> RouteConfiguration? {
        let keys = keys.routes
        let name = entry.value(keys.name)
        if let name { refuseRepeated(name, of: keys.name, in: &names, what: "route", entry) }
        let environment = entry.value(keys.environment)
        let topics = entry.value(keys.topics) ?? []
        if let environment {
            for topic in topics { claim(topic, environment, entry, name: name, in: &claims) }
        }
        let credential = entry.value(keys.credential)
        if let credential, !known.contains(credential) {
            let hint = Suggestion.sentence(for: credential, among: known)
            entry.reject(keys.credential, "no credential is named \"\(credential)\".\(hint)")
        }
        let omitTopic = entry.value(keys.omitTopic)
        if let known = credentials.first(where: { $0.value.name == credential }) {
            check(entry, route: name, topics: topics, environment: environment, omitTopic: omitTopic, against: known)
        }
        // Everything is read before the function can return, so that all problems come out at once.
        refuseLanes(keys.lanes, of: entry)
        let connections = entry.value(keys.connections)
        let (highLane, highShare) = (entry.value(keys.highLane), entry.value(keys.highShare))
        let rate = entry.value(keys.rate)
        let (resultsQueue, resultsBatch) = (entry.value(keys.resultsQueue), entry.value(keys.resultsBatch))
        guard let name, let environment, let credential else { return nil }
        return RouteConfiguration(
            name: name, environment: environment, topics: topics.map(\.value), credential: credential,
            connections: connections, highLane: highLane, highShare: highShare, rate: rate,
            omitTopic: omitTopic, resultsQueue: resultsQueue, resultsBatch: resultsBatch)
    }

    private func claim(
        _ topic: Setting<String>, _ environment: APNSEnvironment, _ entry: SettingReader, name: String?,
        in claims: inout TopicClaims
    ) {
        let new = TopicClaim(topic: topic.value, environment: environment, route: name, origin: topic.origin)
        if let rival = claims.take(new) {
            let owner = rival.route.map { "route \"\($0)\"" } ?? "another route"
            entry.reject(
                keys.routes.topics,
                "\"\(topic.value)\" in \(environment.rawValue) is already claimed by \(owner) as \"\(rival.topic)\" "
                    + "(\(rival.origin)); a topic comes with its suffixes", at: topic.origin)
        }
    }

    private func refuseRepeated(
        _ name: String, of key: SettingKey<String?>, in names: inout [String: ConfigurationOrigin], what: String,
        _ entry: SettingReader
    ) {
        if let first = names[name] {
            entry.reject(key, "the \(what) name \"\(name)\" is already used at \(first)")
        } else {
            names[name] = entry.origin(of: key)
        }
    }

    /// The names of all credentials in the configuration, also of those that are refused.
    private func credentialNames(_ root: SettingReader) -> [String] {
        root.records("credentials").compactMap { entry in
            guard case .scalar(let name, _)? = entry.node["name"]?.content else { return nil }
            return name
        }
    }
}

/// One topic of one route.
private struct TopicClaim {
    let topic: String
    let environment: APNSEnvironment
    let route: String?
    let origin: ConfigurationOrigin
}

/// Which route has claimed which topic. A claim is for the topic with every suffix, and two claims that have one of these
/// in common would want the same binding.
private struct TopicClaims {
    /// By environment and topic with suffix, whoever claimed it first.
    private var owners: [APNSEnvironment: [String: TopicClaim]] = [:]

    /// Takes a claim.
    ///
    /// - Returns: An earlier claim that overlaps; nil if there is none.
    mutating func take(_ new: TopicClaim) -> TopicClaim? {
        var rival: TopicClaim?
        for suffix in TopicSuffix.all {
            let topic = new.topic + suffix
            if let owner = owners[new.environment]?[topic] {
                rival = rival ?? owner
            } else {
                owners[new.environment, default: [:]][topic] = new
            }
        }
        return rival
    }
}
