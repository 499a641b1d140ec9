import PushModel
import TLS

/// What a certificate is for, in the terms of routes.
extension CertificateFacts {
    /// Whether it is a certificate for pushes of this bundle identifier, with or without a topic suffix.
    func covers(_ bundle: String) -> Bool {
        topics.contains { topic in TopicSuffix.all.contains { topic.name == bundle + $0 } }
    }

    /// Whether it may be used in an environment. True if the certificate names none.
    func isFor(_ environment: APNSEnvironment) -> Bool {
        guard namesEnvironment else { return true }
        return environment == .production ? isForProduction : isForDevelopment
    }
}
