package import PushModel
package import TLS

/// What a certificate is for, in the terms of routes.
extension CertificateFacts {
    /// Whether it is a certificate for pushes of this bundle identifier, with or without a topic suffix.
    func covers(_ bundle: String) -> Bool {
        topics.contains { topic in TopicSuffix.all.contains { topic.name == bundle + $0 } }
    }

    /// Why a route cannot use the certificate; nil if it can.
    ///
    /// - Parameters:
    ///   - topics: The route's bundle identifiers.
    ///   - environment: The route's environment.
    ///   - omitsTopic: Whether the route's pushes name no topic.
    package func mismatch(topics: [String], environment: APNSEnvironment, omitsTopic: Bool) -> String? {
        if self.topics.isEmpty { return "names no topic: it is not a certificate for APNs" }
        if let topic = topics.first(where: { !covers($0) }) { return isNot(for: topic) }
        if !isFor(environment) { return isOnlyForAnother(than: environment) }
        return omitsTopic ? needsTopic : nil
    }

    /// Why each push must name its topic; nil where APNs knows the topic from the certificate.
    var needsTopic: String? {
        guard topics.count > 1 else { return nil }
        let listed = topics.map(\.name).joined(separator: ", ")
        return "has several topics (\(listed)), so that each push must name its own"
    }

    /// Says that the certificate is for other topics.
    func isNot(for topic: String) -> String {
        "is not for \"\(topic)\": it is for \(topics.map(\.name).joined(separator: ", "))"
    }

    /// Says that the certificate is for the other environment.
    func isOnlyForAnother(than environment: APNSEnvironment) -> String {
        "is for \(environment == .production ? "development" : "production") only"
    }

    /// Whether it may be used in an environment. True if the certificate names none.
    func isFor(_ environment: APNSEnvironment) -> Bool {
        guard namesEnvironment else { return true }
        return environment == .production ? isForProduction : isForDevelopment
    }
}
