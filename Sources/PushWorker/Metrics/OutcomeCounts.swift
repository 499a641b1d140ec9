package import PushModel

/// Counts of final outcomes by reason: a short list, searched from the front, of what has happened so far.
package struct OutcomeCounts: Sendable {
    /// One pair and its count.
    struct Entry: Sendable {
        /// The outcome.
        let outcome: Outcome
        /// The reason as a label; empty for none.
        let reason: String
        /// The reason to compare with.
        let key: Reason?
        /// How many there were.
        var count: Int
    }

    /// How many different pairs there may be; reasons beyond that count as `other`, so that labels stay bounded.
    static let limit = 64

    private(set) var accepted = 0
    private(set) var entries: [Entry] = []

    /// Makes counts at zero.
    package init() {}

    /// Counts a final outcome.
    package mutating func count(_ outcome: Outcome, _ reason: Reason?, _ number: Int = 1) {
        if outcome == .accepted {
            accepted += number
            return
        }
        for index in entries.indices where entries[index].outcome == outcome && entries[index].key == reason {
            entries[index].count += number
            return
        }
        add(outcome, reason, number)
    }

    private mutating func add(_ outcome: Outcome, _ reason: Reason?, _ number: Int) {
        let text = reason.map(\.rawValue) ?? ""
        // A reason is foreign text: one too long or strange for a label counts with the others.
        let isLabel = text.utf8.count <= 64 && text.utf8.allSatisfy(\.isAlphanumeric)
        guard isLabel, entries.count < Self.limit else {
            if reason?.rawValue == Self.other.rawValue {
                entries.append(Entry(outcome: outcome, reason: text, key: reason, count: number))
            } else {
                count(outcome, Self.other, number)
            }
            return
        }
        entries.append(Entry(outcome: outcome, reason: text, key: reason, count: number))
    }

    private static let other = Reason(rawValue: "other")

    /// How many notifications had an outcome, whatever the reason.
    func count(of outcome: Outcome) -> Int {
        guard outcome != .accepted else { return accepted }
        return entries.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: OutcomeCounts) {
        accepted += more.accepted
        for entry in more.entries { count(entry.outcome, entry.key, entry.count) }
    }
}
