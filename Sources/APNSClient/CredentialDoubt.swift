import EventLoop

/// Decides whether a pool believes an answer that refuses its credential. Pure: time comes in.
///
/// One server of APNs may refuse by mistake what it has accepted thousands of times. So a refusal is not believed on a
/// connection that has had pushes accepted: the connection takes no more requests, and what it refused goes out again.
/// The next connection begins with one notification. A refusal there is believed, and so are too many refusals.
struct CredentialDoubt: Sendable {
    /// The connections that refuse within `window` of which the last one is believed.
    static let limit = 10
    /// How long a refusal counts.
    static let window = Duration.seconds(60)

    /// When connections refused what they had accepted before.
    private var cases: [MonotonicTime] = []

    /// APNs refused the credential in an answer.
    ///
    /// - Parameters:
    ///   - hasAccepted: Whether the connection has had a push accepted.
    ///   - isFirst: Whether it is the connection's first refusal.
    ///   - now: The time.
    /// - Returns: Whether the credential counts as refused.
    mutating func believes(hasAccepted: Bool, isFirst: Bool, now: MonotonicTime) -> Bool {
        guard hasAccepted else {
            cases = []
            return true
        }
        guard isFirst else { return false }
        cases.removeAll { $0 + Self.window <= now }
        cases.append(now)
        guard cases.count >= Self.limit else { return false }
        cases = []
        return true
    }

    /// Whether a connection that opens now begins with one notification.
    func isOpen(now: MonotonicTime) -> Bool { cases.last.map { now < $0 + Self.window } ?? false }
}
