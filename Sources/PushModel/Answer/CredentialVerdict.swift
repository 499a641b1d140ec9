/// What an answer says about the credential it was asked with.
package enum CredentialVerdict: Sendable, Equatable {
    /// It is good.
    case accepted
    /// Nothing is said against it; a server in trouble may not have looked at it at all.
    case unexamined
    /// The request was turned away for it, though it may be good.
    case doubted
    /// The request was turned away with a reason that nobody has listed, or with none: it may be bad.
    case unexplained
    /// The provider token is too old: a new one is to be made.
    case tokenExpired
    /// The provider token changes too often: Apple's limit is one change in 20 minutes.
    case tokenChangedTooOften
    /// It is bad.
    case refused(RefusalScope)

    /// Whose credential is meant by a refusal.
    package enum RefusalScope: Sendable, Equatable {
        /// That of every route that shares it.
        case everyRoute
        /// What one route does with it: another may use it well.
        case oneRoute
    }

    /// Whether it is bad.
    package var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// Whether the request was turned away for its credential: then nothing was said about the notification.
    package var turnsAway: Bool {
        switch self {
        case .accepted, .unexamined: false
        case .doubted, .unexplained, .tokenExpired, .tokenChangedTooOften, .refused: true
        }
    }
}
