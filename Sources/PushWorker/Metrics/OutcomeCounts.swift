package import PushModel

/// Counts of final outcomes. Outcomes other than `accepted` are counted by reason.
package struct OutcomeCounts: Sendable, Equatable {
    /// How many notifications were accepted.
    private(set) var accepted = 0
    /// The notifications that were not accepted.
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

    /// How many notifications had an outcome, for any reason.
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
