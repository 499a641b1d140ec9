/// What an answer says about the credential of its request.
package enum CredentialVerdict: Sendable, Equatable {
    /// The credential is good.
    case accepted
    /// The answer says nothing against the credential. A server in trouble may not have examined it.
    case unexamined
    /// The request was turned away because of the credential, which may be good.
    case doubted
    /// The request was turned away with a reason that is not listed, or without a reason. The credential may be bad.
    case unexplained
    /// The provider token is too old. The worker must make a new one.
    case tokenExpired
    /// The provider token changes too often: Apple's limit is one change in 20 minutes.
    case tokenChangedTooOften
    /// The credential is bad.
    case refused(RefusalScope)

    /// Whom a refusal concerns.
    package enum RefusalScope: Sendable, Equatable {
        /// Every route that shares the credential.
        case everyRoute
        /// Only the route that sent the request. The credential may work for another route.
        case oneRoute
    }

    /// Whether the credential is bad.
    package var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// Whether the request was turned away because of its credential. The answer then says nothing about the
    /// notification.
    package var turnsAway: Bool {
        switch self {
        case .accepted, .unexamined: false
        case .doubted, .unexplained, .tokenExpired, .tokenChangedTooOften, .refused: true
        }
    }
}
