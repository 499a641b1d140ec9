/// What a connection has become bound to by its first push, and whether a later push may use it.
///
/// A value without clock or sockets: facts go in, a refusal or nothing comes out.
/// See Apple, "Establishing a token-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
struct ConnectionTrust {
    /// The answers that Apple leaves open or that were seen to differ from the page.
    struct Choices: Sendable {
        /// What a second team on a connection is told.
        var secondTeam = Refusal.invalidProviderToken
        /// What a key of the other environment is told; the wire was seen to say `BadEnvironmentKeyInToken`.
        var otherEnvironment = Refusal.badEnvironmentKeyID
        /// What a topic outside a topic-specific key's list is told.
        var topicOutsideKey = Refusal.topicDisallowed
    }

    /// The environment the connection was made to.
    let environment: ServiceEnvironment

    /// The answers to open questions.
    let choices: Choices

    /// The token that the connection's first good push carried.
    private(set) var first: ProviderTokenFacts?

    /// The token of the latest good push; where it changes and how often is the place for refresh accounting.
    private(set) var current: ProviderTokenFacts?

    /// Starts unbound.
    ///
    /// - Parameters:
    ///   - environment: The environment the connection was made to.
    ///   - choices: The answers to open questions.
    init(environment: ServiceEnvironment, choices: Choices = Choices()) {
        self.environment = environment
        self.choices = choices
    }

    /// Admits a push with a verified token, and binds the connection to the first one.
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
            return nil
        }
        if facts.teamID != first.teamID { return choices.secondTeam }
        if facts.keyID != first.keyID, key?.relatedKeyID != first.keyID { return .unrelatedKeyID }
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
        guard let topics = key?.topics, !topics.contains(PushType.bundleIdentifier(of: topic)),
            !topics.contains(topic)
        else { return nil }
        return choices.topicOutsideKey
    }
}
