/// One difference between what a broker should hold and what it holds.
package struct TopologyDrift: Sendable, Equatable {
    /// How the two differ.
    package enum Kind: String, Sendable {
        /// Wanted, but not there.
        case missing
        /// There, but other than wanted.
        case different
        /// There, but no longer wanted.
        case stale
    }

    /// How the two differ.
    package let kind: Kind
    /// What it is about, such as `queue apns.q.jobs.shop`.
    package let object: String
    /// The difference in words; empty where the kind says it all.
    package let detail: String
    /// The command that mends it, ready for a shell.
    package let command: String
}
