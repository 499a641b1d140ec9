package import PushModel

/// Counts of final outcomes, by reason where they are not `accepted`.
package struct OutcomeCounts: Sendable {
    private(set) var accepted = 0
    /// What was not accepted.
    private(set) var refused = ReasonCounts<Outcome>()

    /// Makes counts at zero.
    package init() {}

    /// Counts a final outcome.
    package mutating func count(_ outcome: Outcome, _ reason: Reason?, _ number: Int = 1) {
        if outcome == .accepted {
            accepted += number
        } else {
            refused.count(outcome, reason, number)
        }
    }

    /// How many notifications had an outcome, whatever the reason.
    func count(of outcome: Outcome) -> Int {
        guard outcome != .accepted else { return accepted }
        return refused.entries.reduce(0) { $0 + ($1.kind == outcome ? $1.count : 0) }
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: OutcomeCounts) {
        accepted += more.accepted
        refused.add(more.refused)
    }
}
