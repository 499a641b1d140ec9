/// The accounts of provider token updates that the requests of one connection are entered in, pushes and requests about
/// broadcast channels alike: its own, or those that a key or a team shares (`TrustChoices.refreshScope`). Belongs to
/// one thread.
final class RefreshAccounts {
    private let choices: TrustChoices
    private let shared: CredentialRegistry
    /// How long a token must be used before the next one, in milliseconds; 0 for no accounting.
    private let interval: Int64
    /// By key: a connection may use two related ones, each with tokens of its own.
    private var own: [String: RefreshAccount] = [:]

    /// Opens the accounts of a connection.
    ///
    /// - Parameters:
    ///   - choices: What the accounts are kept for, and what overdrawing one costs.
    ///   - shared: Keeps those of keys and teams.
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
    /// - Returns: The refusal where it came too early.
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
    /// - Parameter facts: The token that was answered `ExpiredProviderToken`; nil where none was good before.
    func excuse(_ facts: ProviderTokenFacts?) {
        guard let facts else { return }
        switch choices.refreshScope {
        case .connection: own[facts.keyID]?.excuse()
        case .key: shared.withAccount(facts.keyID) { $0.excuse() }
        case .team: shared.withAccount(facts.teamID) { $0.excuse() }
        }
    }
}
