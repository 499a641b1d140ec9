/// One difference between what a broker should hold and what it holds.
package struct TopologyDrift: Sendable, Equatable {
    /// How the two differ.
    package enum Kind: String, Sendable {
        /// Wanted, but not there.
        case missing
        /// There, but different from what is wanted.
        case different
        /// There, but no longer wanted.
        case stale
        /// Somebody else's, and in the way: only who made it can say whether it is wanted.
        case foreign
    }

    /// How the two differ.
    package let kind: Kind
    /// The subject, such as `queue apns.q.jobs.shop`.
    package let object: String
    /// The difference in words; empty where the kind says everything.
    package let detail: String
    /// The steps that mend it, in their order; empty for a queue that is not wanted here, but in use.
    package let remedies: [TopologyRemedy]
    /// The exchange that `jobs.from` may name, after which there is no difference; nil where that does not help.
    package var exchange: String?
}

extension TopologyDrift {
    /// Counts differences by their objects and their kinds.
    ///
    /// - Parameter rows: The differences.
    /// - Returns: A text such as `3 differences: 2 queues missing, 1 policy differs`.
    package static func summary(of rows: [TopologyDrift]) -> String {
        let nouns = [
            ("exchange", "exchanges"), ("queue", "queues"), ("binding", "bindings"), ("policy", "policies"),
            ("operator policy", "operator policies"),
        ]
        var parts: [String] = []
        for kind in [Kind.missing, .different, .stale, .foreign] {
            for (one, many) in nouns {
                let count = rows.count { $0.kind == kind && $0.object.hasPrefix("\(one) ") }
                guard count > 0 else { continue }
                let how = kind == .different ? (count == 1 ? "differs" : "differ") : kind.rawValue
                parts.append("\(count) \(count == 1 ? one : many) \(how)")
            }
        }
        return "\(rows.count) \(rows.count == 1 ? "difference" : "differences"): \(parts.joined(separator: ", "))"
    }
}
