import PushModel

/// The holding tiers that the broker lacks because its topology is an older one. Copies for them go into the longest
/// retry tier instead. Such a copy is not due when it comes back, so it waits again.
struct MissingTiers {
    /// Says which tiers are holding tiers; nil where copies for a missing tier wait until it is there.
    private let policy: RetryPolicy?
    /// The positions of the missing tiers, as far as the broker has said on this connection.
    private(set) var positions: Set<Int> = []

    /// No tier is known to be missing.
    ///
    /// - Parameter policy: Says which tiers are holding tiers; nil to let copies wait until a missing tier is there.
    init(_ policy: RetryPolicy?) { self.policy = policy }

    /// The position of the tier that copies go into instead; nil without one.
    var substitute: Int? { policy?.fallbackTier }

    /// Whether a publication would go into another tier if its own were missing.
    func redirects(_ publication: Publication) -> Bool {
        // A line forms behind a publication that reached its exchange, so the exchange exists.
        guard let policy, case .retry(let tier) = publication.destination, !publication.isInLine else { return false }
        return policy.isHolding(tier)
    }

    /// The broker lacks the tier at this position.
    mutating func note(_ tier: Int) { positions.insert(tier) }

    /// There is another connection, to a broker that has perhaps all tiers.
    mutating func forget() { positions = [] }
}
