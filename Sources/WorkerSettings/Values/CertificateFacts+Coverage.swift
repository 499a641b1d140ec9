internal import PushModel
internal import TLS

/// What a certificate is for, in the terms of routes.
extension CertificateFacts {
    /// Whether pushes for a bundle identifier, with some suffix at least, are what it is for.
    func covers(_ bundle: String) -> Bool {
        topics.contains { topic in TopicSuffix.all.contains { topic.name == bundle + $0 } }
    }

    /// Whether it may be used in an environment, as far as it says.
    func isFor(_ environment: APNSEnvironment) -> Bool {
        guard namesEnvironment else { return true }
        return environment == .production ? isForProduction : isForDevelopment
    }
}
