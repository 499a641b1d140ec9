/// The answers about credentials that Apple leaves open, or that were seen to differ from its pages.
package struct TrustChoices: Equatable, Sendable {
    /// Which connections share one account of provider token updates.
    package enum RefreshScope: String, Sendable, CaseIterable {
        /// Each connection by itself, as Apple's page says.
        case connection
        /// All connections that use the same key.
        case key
        /// All connections and keys of a team, as accepted answers in Apple's forum say.
        case team
    }

    /// Which requests are refused after a token was changed too early.
    package enum RefreshPenalty: String, Sendable, CaseIterable {
        /// Only requests with the new token are refused.
        case token
        /// All requests on the same account are refused until the interval since its latest token change is over.
        case connection
    }

    /// How the gateway answers a client certificate of the other environment.
    package enum EnvironmentAnswer: String, Sendable, CaseIterable {
        /// As the answer to each push.
        case answer
        /// As a GOAWAY frame at the start.
        case goaway
        /// As two GOAWAY frames in a row, as was seen in 2016.
        case goawayTwice = "goaway-twice"
    }

    /// How the gateway answers a client certificate that is not good.
    package enum CertificateAnswer: String, Sendable, CaseIterable {
        /// As `BadCertificate` in the answer to each push.
        case answer
        /// As a TLS alert in the handshake.
        case alert
    }

    /// The answer to a token of a second team on one connection.
    package var secondTeam = Refusal.invalidProviderToken
    /// The answer to a key of the other environment. APNs was seen to send `BadEnvironmentKeyInToken`.
    package var otherEnvironment = Refusal.badEnvironmentKeyID
    /// The answer to a topic that is not in the list of a topic-specific key.
    package var topicOutsideKey = Refusal.topicDisallowed
    /// The answer to a topic that the client certificate does not cover.
    package var topicOutsideCertificate = Refusal.topicDisallowed
    /// Which connections share one account of provider token updates.
    package var refreshScope = RefreshScope.connection
    /// Which requests are refused after a token was changed too early.
    package var refreshPenalty = RefreshPenalty.token
    /// How the gateway answers a client certificate of the other environment.
    package var certificateEnvironment = EnvironmentAnswer.answer
    /// How the gateway answers a client certificate that is not good.
    package var badCertificate = CertificateAnswer.answer

    /// Starts from the documented or safest answers above.
    package init() {}
}
