/// The answers about device tokens that the lane counts before it locks ``SharedDeadTokens``.
struct DeadTokenTally {
    /// The most live answers that are held back. All of them are passed on before a dead token's answer counts.
    static let limit = 64

    private let shared: SharedDeadTokens
    private var live = 0

    /// Starts with nothing held back.
    init(_ shared: SharedDeadTokens) { self.shared = shared }

    /// Whether tokens should be kept for now. Asked only about a dead token, because the question takes a lock.
    ///
    /// - Parameter inFlight: How many requests are under way.
    mutating func isSuspicious(inFlight: Int) -> Bool {
        defer { live = 0 }
        return shared.learn(live: live, inFlight: inFlight)
    }

    /// Learns one final answer.
    ///
    /// - Parameters:
    ///   - isDeadToken: Whether it calls the token dead.
    ///   - inFlight: How many requests are under way.
    mutating func answered(isDeadToken: Bool, inFlight: Int) {
        if !isDeadToken { live += 1 }
        guard isDeadToken || live >= Self.limit else { return }
        shared.learn(live: live, isDeadToken: isDeadToken, inFlight: inFlight)
        live = 0
    }
}
