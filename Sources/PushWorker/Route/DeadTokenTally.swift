/// One lane's part of it: what is not worth a lock yet.
struct DeadTokenTally {
    /// How many answers are held back at most: as many as weigh little in a decision.
    static let limit = 64

    private let shared: SharedDeadTokens
    private var live = 0

    /// Starts with nothing held back.
    init(_ shared: SharedDeadTokens) { self.shared = shared }

    /// Whether tokens should be kept for now; asked only about a dead one, because it takes a lock.
    mutating func isSuspicious() -> Bool {
        defer { live = 0 }
        return shared.learn(live: live)
    }

    /// Learns one final answer.
    mutating func answered(isDeadToken: Bool) {
        if !isDeadToken { live += 1 }
        guard isDeadToken || live >= Self.limit else { return }
        shared.learn(live: live, isDeadToken: isDeadToken)
        live = 0
    }
}
