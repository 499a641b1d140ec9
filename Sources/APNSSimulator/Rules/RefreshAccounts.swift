/// The accounts of provider token updates that one connection uses. Belongs to one thread.
///
/// Pushes and requests about broadcast channels use the same accounts. `TrustChoices.refreshScope` says which: those of
/// the connection, or those that all connections of a key or a team share.
final class RefreshAccounts {
    private let choices: TrustChoices
    private let shared: CredentialRegistry
    /// How long a token must be used before the next one, in milliseconds; 0 for no accounting.
    private let interval: Int64
    /// By key: a connection may use two related keys, each with tokens of its own.
    private var own: [String: RefreshAccount] = [:]

    /// Opens the accounts of a connection.
    ///
    /// - Parameters:
    ///   - choices: Who shares an account, and what is refused when a change comes too early.
    ///   - shared: Keeps the accounts of keys and teams.
    ///   - interval: How long a token must be used before the next one, in milliseconds; 0 for no accounting.
    init(_ choices: TrustChoices, shared: CredentialRegistry, interval: Int64) {
        self.choices = choices
        self.shared = shared
        self.interval = interval
    }

    /// Enters the use of a token.
    ///
    /// - Parameters:
    ///   - facts: What the token says.
    ///   - now: Milliseconds since 1970.
    /// - Returns: `TooManyProviderTokenUpdates` where the change came too early, or where an overdrawn account refuses
    ///   every token; otherwise nil.
    func refusal(of facts: ProviderTokenFacts, now: Int64) -> Refusal? {
        guard interval > 0 else { return nil }
        let token = RefreshAccount.Token(facts)
        let (choices, interval) = (choices, interval)
        func use(_ account: inout RefreshAccount) -> Bool {
            if choices.refreshPenalty == .connection, account.isOverdrawn(now: now, interval: interval) { return false }
            return account.isLatest(token) || account.admit(token, now: now, interval: interval)
        }
        let isGood: Bool
        switch choices.refreshScope {
        case .connection: isGood = use(&own[facts.keyID, default: RefreshAccount()])
        case .key: isGood = shared.withAccount(facts.keyID, use)
        case .team: isGood = shared.withAccount(facts.teamID, use)
        }
        return isGood ? nil : .tooManyProviderTokenUpdates
    }

    /// Lets the next token update pass at any time.
    ///
    /// - Parameter facts: The latest good token before `ExpiredProviderToken` was answered; nil where none was good.
    func excuse(_ facts: ProviderTokenFacts?) {
        guard let facts else { return }
        switch choices.refreshScope {
        case .connection: own[facts.keyID]?.excuse()
        case .key: shared.withAccount(facts.keyID) { $0.excuse() }
        case .team: shared.withAccount(facts.teamID) { $0.excuse() }
        }
    }
}
