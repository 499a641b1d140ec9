/// The answers about credentials that Apple leaves open, or that were seen to differ from its pages.
package struct TrustChoices: Equatable, Sendable {
    /// What shares one account of provider token updates.
    package enum RefreshScope: String, Sendable, CaseIterable {
        /// Each connection by itself, as Apple's page says.
        case connection
        /// All connections that use the same key.
        case key
        /// All connections and keys of a team, as accepted answers in Apple's forum say.
        case team
    }

    /// What becomes of a connection that changed its token too often.
    package enum RefreshPenalty: String, Sendable, CaseIterable {
        /// Only pushes with the new token are refused.
        case token
        /// All pushes of the connection are refused until the interval is over.
        case connection
    }

    /// How a client certificate of the other environment is told.
    package enum EnvironmentAnswer: String, Sendable, CaseIterable {
        /// As the answer to each push.
        case answer
        /// As a GOAWAY frame at the start.
        case goaway
        /// As two GOAWAY frames in a row, as was seen in 2016.
        case goawayTwice = "goaway-twice"
    }

    /// How a client certificate that is not good is told.
    package enum CertificateAnswer: String, Sendable, CaseIterable {
        /// As `BadCertificate` in the answer to each push.
        case answer
        /// As a TLS alert in the handshake.
        case alert
    }

    /// What a second team on a connection is told.
    package var secondTeam = Refusal.invalidProviderToken
    /// What a key of the other environment is told; the wire was seen to say `BadEnvironmentKeyInToken`.
    package var otherEnvironment = Refusal.badEnvironmentKeyID
    /// What a topic outside a topic-specific key's list is told.
    package var topicOutsideKey = Refusal.topicDisallowed
    /// What a topic outside a client certificate's list is told.
    package var topicOutsideCertificate = Refusal.topicDisallowed
    /// What shares one account of provider token updates.
    package var refreshScope = RefreshScope.connection
    /// What becomes of a connection that changed its token too often.
    package var refreshPenalty = RefreshPenalty.token
    /// How a client certificate of the other environment is told.
    package var certificateEnvironment = EnvironmentAnswer.answer
    /// How a client certificate that is not good is told.
    package var badCertificate = CertificateAnswer.answer

    /// Starts from the documented or safest answers above.
    package init() {}
}
