import PushModel
import Topology

/// Credentials and routes, which refer to each other by name.
extension ConfigurationBuilder {
    private enum CredentialKind: String, CaseIterable {
        case token
        case certificate
    }

    /// Reads `credentials`, and refuses names used twice.
    func credentials(_ root: SettingReader) -> [PlacedCredential] {
        var names: [String: ConfigurationOrigin] = [:]
        var credentials: [PlacedCredential] = []
        for entry in root.records("credentials") {
            let nameRule = SettingParsers.name(1...100, "1 to 100 letters, digits, \".\", \"_\" and \"-\"") {
                $0.isAlphanumeric
                    || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
            }
            let name = entry.required("name", nameRule)
            if let name { refuseRepeated(name, in: &names, what: "credential", entry) }
            guard let kind = entry.required("kind", SettingParsers.choice(CredentialKind.self)) else { continue }
            switch kind.value {
            case .token: if let credential = token(entry, name: name) { credentials.append(credential) }
            case .certificate: if let credential = certificate(entry, name: name) { credentials.append(credential) }
            }
        }
        return credentials
    }

    private func token(_ entry: SettingReader, name: SettingReader.Setting<String>?) -> PlacedCredential? {
        for key in ["file", "password_file", "cert_file"] where entry.present(key) != nil {
            entry.reject(entry.origin(of: key), "\(entry.name(of: key)): belongs to kind certificate, not token")
        }
        let identifier = SettingParsers.name(10...10, "Apple's identifier of ten letters and digits") {
            $0.isAlphanumeric
        }
        let keyFile = entry.required("key_file", SettingParsers.text)
        let path = keyFile.flatMap { readablePath($0, name: entry.name(of: "key_file"), credential: name?.value) }
        let keyID = entry.required("key_id", identifier)
        let teamID = entry.required("team_id", identifier)
        guard let name else { return nil }
        // Even with a bad part the name counts, so that routes do not complain about it as well.
        return PlacedCredential(
            value: .token(
                TokenCredentialConfiguration(
                    name: name.value, keyFile: path ?? "", keyID: keyID?.value ?? "", teamID: teamID?.value ?? "")),
            origin: name.origin)
    }

    /// Reads `routes`, and refuses repeated names, unknown credentials and topics claimed twice.
    func routes(_ root: SettingReader, credentials: [PlacedCredential]) -> [RouteConfiguration] {
        let entries = root.records("routes")
        if entries.isEmpty, root.present("routes") == nil || isEmptyList(root.present("routes")) {
            root.reject(root.origin(of: "routes"), "routes: at least one route is needed (or MARTLET_ROUTES)")
        }
        let known = credentialNames(root)
        var names: [String: ConfigurationOrigin] = [:]
        var claims: [TopicClaim] = []
        return entries.compactMap { entry in
            route(entry, known: known, credentials: credentials, names: &names, claims: &claims)
        }
    }

    private func route(
        _ entry: SettingReader, known: [String], credentials: [PlacedCredential],
        names: inout [String: ConfigurationOrigin], claims: inout [TopicClaim]
    ) -> RouteConfiguration? {
        let name = entry.required("name", Self.routeName)
        if let name { refuseRepeated(name, in: &names, what: "route", entry) }
        let environment = entry.required("environment") { (text: String) throws(Rejection) -> APNSEnvironment in
            let names = ["production", "development"]
            guard let value = APNSEnvironment(rawValue: text) else {
                throw Rejection(
                    "\"\(text)\" is neither production nor development.\(Suggestion.sentence(for: text, among: names))")
            }
            return value
        }
        let topics = topics(entry)
        if let environment {
            for topic in topics { claim(topic, environment.value, entry, name: name?.value, in: &claims) }
        }
        let credential = entry.required("credential", SettingParsers.text)
        if let credential, !known.contains(credential.value) {
            let hint = Suggestion.sentence(for: credential.value, among: known)
            entry.reject(
                credential.origin,
                "\(entry.name(of: "credential")): no credential is named \"\(credential.value)\".\(hint)")
        }
        let connections = entry.value("connections", default: .automatic, SettingParsers.automatic(1...64))
        let lanes = entry.value(
            "lanes", default: .automatic, SettingParsers.automatic(1...RouteConfiguration.mostLanes))
        let highLane = entry.value("high_lane", default: false, SettingParsers.boolean)
        let rate = entry.optional(
            "rate", SettingParsers.number(0.001...1_000_000, "notifications per second, or null"))?.value
        let omitTopic = entry.optional("omit_topic", SettingParsers.boolean)
        let resultsQueue = entry.optional("results_queue", Self.resultsQueueName)?.value
        if let placed = credentials.first(where: { $0.value.name == credential?.value }) {
            check(
                entry, route: name, topics: topics, environment: environment, omitTopic: omitTopic, against: placed)
        }
        guard let name, let environment, let credential else { return nil }
        return RouteConfiguration(
            name: name.value, environment: environment.value, topics: topics.map(\.value), credential: credential.value,
            connections: connections, lanes: lanes, highLane: highLane, rate: rate,
            omitTopic: omitTopic?.value ?? false, resultsQueue: resultsQueue)
    }

    private func topics(_ entry: SettingReader) -> [SettingReader.Setting<String>] {
        guard let topics = entry.list("topics", Self.topicName) else {
            entry.reject(entry.origin(of: "topics"), "\(entry.name(of: "topics")): is required")
            return []
        }
        if isEmptyList(entry.present("topics")) {
            entry.reject(entry.origin(of: "topics"), "\(entry.name(of: "topics")): at least one topic is needed")
        }
        return topics
    }

    private func claim(
        _ topic: SettingReader.Setting<String>, _ environment: APNSEnvironment, _ entry: SettingReader, name: String?,
        in claims: inout [TopicClaim]
    ) {
        let new = TopicClaim(topic: topic.value, environment: environment, route: name, origin: topic.origin)
        if let rival = claims.first(where: { $0.overlaps(new) }) {
            let owner = rival.route.map { "route \"\($0)\"" } ?? "another route"
            entry.reject(
                topic.origin,
                "\(entry.name(of: "topics")): \"\(topic.value)\" in \(environment.rawValue) is already claimed "
                    + "by \(owner)"
                    + " as \"\(rival.topic)\" (\(rival.origin)); a topic comes with its suffixes")
        }
        claims.append(new)
    }

    private func refuseRepeated(
        _ name: SettingReader.Setting<String>, in names: inout [String: ConfigurationOrigin], what: String,
        _ entry: SettingReader
    ) {
        if let first = names[name.value] {
            entry.reject(
                name.origin, "\(entry.name(of: "name")): the \(what) name \"\(name.value)\" is already used at \(first)"
            )
        } else {
            names[name.value] = name.origin
        }
    }

    /// The names of all credentials written, also of those that are refused for another reason.
    private func credentialNames(_ root: SettingReader) -> [String] {
        root.records("credentials").compactMap { entry in
            guard case .scalar(let name, _)? = entry.present("name")?.content else { return nil }
            return name
        }
    }

    private func isEmptyList(_ node: ConfigurationNode?) -> Bool {
        if case .list(let entries)? = node?.content { entries.isEmpty } else { false }
    }

    private static func routeName(_ text: String) throws(Rejection) -> String {
        let rule = SettingParsers.name(1...40, "1 to 40 lower-case letters, digits and \"-\"") { byte in
            byte == UInt8(ascii: "-") || (byte.isAlphanumeric && !(0x41...0x5a).contains(byte))
        }
        let name = try rule(text)
        guard name != "unrouted" else {
            throw Rejection("\"unrouted\" is the name of the queue for jobs without a route")
        }
        return name
    }

    /// A name beside those of the queues over which results are dealt out, which end with a number, and of the queue
    /// for results that nobody bound.
    private static func resultsQueueName(_ text: String) throws(Rejection) -> String {
        let prefix = TopologyNames.resultsPrefix
        let name = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : ""
        guard (1...40).contains(name.utf8.count), let first = name.utf8.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first), (try? routeName(String(name))) != nil
        else {
            throw Rejection(
                "must be \(prefix) and 1 to 40 lower-case letters, digits and \"-\", the first a letter")
        }
        guard text != TopologyNames.unclaimedResultsQueue else {
            throw Rejection("\(text) is the queue for results that no other queue takes")
        }
        return text
    }

    private static func topicName(_ text: String) throws(Rejection) -> String {
        let longest = 200 - TopicSuffix.longest
        let rule = SettingParsers.name(1...longest, "1 to \(longest) letters, digits, \".\" and \"-\"") {
            $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        return try rule(text)
    }
}

/// One topic of one route, for finding two that would want the same binding.
private struct TopicClaim {
    let topic: String
    let environment: APNSEnvironment
    let route: String?
    let origin: ConfigurationOrigin

    /// Whether some (environment, topic with suffix) would belong to both.
    func overlaps(_ other: TopicClaim) -> Bool {
        environment == other.environment && TopicSuffix.overlap(topic, other.topic)
    }
}
