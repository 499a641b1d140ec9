/// What the reader of a result should do.
package enum Action: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Stop using the device token.
    case dropToken = "drop_token"
    /// Do not delete tokens yet: the whole route suddenly reports dead ones, so look at its configuration.
    case hold
    /// Correct what the producer sends.
    case fixRequest = "fix_request"
    /// Correct the topic, or use other device tokens with it.
    case fixTopic = "fix_topic"
    /// Correct the route's credential.
    case fixCredential = "fix_credential"
    /// Send it again when the trouble is over.
    case replay
    /// Find out whether it arrived; sending again may duplicate it.
    case check

    /// The action as constant text.
    package var text: StaticString {
        switch self {
        case .none: "none"
        case .dropToken: "drop_token"
        case .hold: "hold"
        case .fixRequest: "fix_request"
        case .fixTopic: "fix_topic"
        case .fixCredential: "fix_credential"
        case .replay: "replay"
        case .check: "check"
        }
    }
}
