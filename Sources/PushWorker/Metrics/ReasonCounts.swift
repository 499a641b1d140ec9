package import PushModel

/// Counts of events by kind and reason: a short list of the pairs seen so far, searched from the front.
package struct ReasonCounts<Kind: Equatable & Sendable>: Sendable, Equatable {
    /// One pair and its count.
    struct Entry: Sendable, Equatable {
        /// What happened.
        let kind: Kind
        /// The reason as a label; empty without a reason.
        let reason: String
        /// The reason to compare with.
        let key: Reason?
        /// How often it happened.
        var count: Int
    }

    private(set) var entries: [Entry] = []

    /// Makes counts at zero.
    package init() {}

    /// From this many pairs on, a new reason counts as `other`, so that the number of series stays bounded.
    static var limit: Int { 64 }

    /// Counts what happened.
    package mutating func count(_ kind: Kind, _ reason: Reason?, _ number: Int = 1) {
        for index in entries.indices where entries[index].kind == kind && entries[index].key == reason {
            entries[index].count += number
            return
        }
        add(kind, reason, number)
    }

    private mutating func add(_ kind: Kind, _ reason: Reason?, _ number: Int) {
        let text = reason.map(\.rawValue) ?? ""
        // APNs may send any text as a reason. A reason of more than 64 bytes, or with other characters than letters and
        // digits, is no label and counts as `other`.
        let isLabel = text.utf8.count <= 64 && text.utf8.allSatisfy(\.isAlphanumeric)
        if isLabel && entries.count < Self.limit || reason == .other {
            entries.append(Entry(kind: kind, reason: text, key: reason, count: number))
        } else {
            count(kind, .other, number)
        }
    }

    /// Adds counts made elsewhere.
    mutating func add(_ more: ReasonCounts) {
        for entry in more.entries { count(entry.kind, entry.key, entry.count) }
    }
}

extension Reason {
    /// Stands for reasons that have no label of their own.
    fileprivate static let other = Reason(rawValue: "other")
}
