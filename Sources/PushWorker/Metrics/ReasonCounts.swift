package import PushModel

/// Counts of what happened, by kind and reason: a short list, searched from the front, of what was seen so far.
package struct ReasonCounts<Kind: Equatable & Sendable>: Sendable {
    /// One pair and its count.
    struct Entry: Sendable {
        /// What happened.
        let kind: Kind
        /// The reason as a label; empty for none.
        let reason: String
        /// The reason to compare with.
        let key: Reason?
        /// How often it happened.
        var count: Int
    }

    private(set) var entries: [Entry] = []

    /// Makes counts at zero.
    package init() {}

    /// How many different pairs there may be; reasons beyond that count as `other`, so that labels stay bounded.
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
        // A reason is foreign text: one too long or strange for a label counts with the others.
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
