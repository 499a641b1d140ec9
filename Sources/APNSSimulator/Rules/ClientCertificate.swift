import TLS

/// What a provider's client certificate allows.
///
/// See Apple, "Establishing a certificate-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns>
struct ClientCertificate: Equatable {
    /// The serial number, by which it is revoked.
    var serialNumber: String
    /// The topics it covers: the subject's UID and those of its extensions, each once.
    var topics: [String]
    /// The environments it is for; both where its extensions name none.
    var environments: Set<ServiceEnvironment>
    /// The end of its validity, in seconds since 1970.
    var notAfter: Int64
    /// Whether its chain was verified.
    var isTrusted: Bool

    /// The topic of pushes that name none; nil unless the certificate has exactly one topic.
    var onlyTopic: String? { topics.count == 1 ? topics.first : nil }

    /// Judges the certificate itself.
    ///
    /// - Parameters:
    ///   - environment: The environment the connection was made to.
    ///   - now: Seconds since 1970.
    ///   - isRevoked: Whether the certificate was revoked.
    /// - Returns: Nil where it is good.
    func refusal(environment: ServiceEnvironment, now: Int64, isRevoked: Bool) -> Refusal? {
        if !isTrusted || isRevoked || now > notAfter || topics.isEmpty { return .badCertificate }
        return environments.contains(environment) ? nil : .badCertificateEnvironment
    }

    /// Judges a push's topic; location pushes need a provider token in any case.
    ///
    /// - Parameters:
    ///   - push: A push that broke no other rule.
    ///   - choices: Names the answer to a topic that the certificate does not cover.
    /// - Returns: Nil where the certificate covers it.
    func refusal(of push: ValidPush, choices: TrustChoices) -> Refusal? {
        topics.contains(push.topic) && push.type != .location ? nil : choices.topicOutsideCertificate
    }
}

extension ClientCertificate {
    /// Reads a certificate that a client showed.
    ///
    /// - Parameter peer: The certificate.
    init(_ peer: PeerCertificate) {
        var topics = peer.userID.map { [$0] } ?? []
        for identifier in [PushCertificateExtension.topics, PushCertificateExtension.voip] {
            let listed = peer.content(ofExtension: identifier).map(PushCertificateExtension.topics(in:)) ?? []
            for topic in listed where !topics.contains(topic) { topics.append(topic) }
        }
        var environments: Set<ServiceEnvironment> = []
        if peer.content(ofExtension: PushCertificateExtension.development) != nil { environments.insert(.development) }
        if peer.content(ofExtension: PushCertificateExtension.production) != nil { environments.insert(.production) }
        self.init(
            serialNumber: peer.serialNumber, topics: topics,
            environments: environments.isEmpty ? Set(ServiceEnvironment.allCases) : environments,
            notAfter: peer.notAfter, isTrusted: peer.distrust == nil)
    }
}
