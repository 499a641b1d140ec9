/// What the first admitted provider token of a connection binds the connection to, and which later tokens may be used.
///
/// A value without clock or sockets: facts go in, a refusal or nothing comes out.
/// See Apple, "Establishing a token-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
struct ConnectionTrust {
    /// The answers that Apple leaves open or that were seen to differ from Apple's page.
    typealias Choices = TrustChoices

    /// The environment the connection was made to.
    let environment: ServiceEnvironment

    /// The answers to open questions.
    let choices: Choices

    /// The first token that was admitted, even if its push broke another rule; nil before.
    private(set) var first: ProviderTokenFacts?

    /// The latest token that was admitted; nil before the first.
    private(set) var current: ProviderTokenFacts?

    /// The related key that the key of the first token names.
    private var relatedKeyID: String?

    /// Starts unbound.
    ///
    /// - Parameters:
    ///   - environment: The environment the connection was made to.
    ///   - choices: The answers to open questions.
    init(environment: ServiceEnvironment, choices: Choices = Choices()) {
        self.environment = environment
        self.choices = choices
    }

    /// Admits a verified token. The first token that is admitted binds the connection.
    ///
    /// - Parameters:
    ///   - facts: What the token says.
    ///   - key: The key that signed it; nil where keys are not checked.
    /// - Returns: Nil where the push may pass.
    mutating func admit(_ facts: ProviderTokenFacts, key: ProviderKey?) -> Refusal? {
        if let limited = key?.environment, limited != environment { return choices.otherEnvironment }
        guard let first else {
            first = facts
            current = facts
            relatedKeyID = key?.relatedKeyID
            return nil
        }
        if facts.teamID != first.teamID { return choices.secondTeam }
        // Two keys are related where either of them names the other.
        if facts.keyID != first.keyID, key?.relatedKeyID != first.keyID, relatedKeyID != facts.keyID {
            return .unrelatedKeyID
        }
        current = facts
        return nil
    }

    /// Judges a topic against the key's list.
    ///
    /// - Parameters:
    ///   - topic: The value of `apns-topic`.
    ///   - key: The key that signed the token.
    /// - Returns: Nil where the topic is covered.
    func refusal(topic: String, key: ProviderKey?) -> Refusal? {
        guard let topics = key?.topics, !topics.contains(GatewayPushType.bundleIdentifier(of: topic)),
            !topics.contains(topic)
        else { return nil }
        return choices.topicOutsideKey
    }
}
