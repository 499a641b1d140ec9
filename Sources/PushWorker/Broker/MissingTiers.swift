import EventLoop
import PushModel

/// The holding tiers that the broker lacks because its topology is an older one. Copies for them go into retry tiers
/// instead. Such a copy is perhaps not due when it comes back, so it waits again.
///
/// Retry tiers have no length, so this must not last: the tiers are tried again after a while.
struct MissingTiers {
    /// How long a tier counts as missing. Each try costs the publish channel.
    static let memory = Duration.seconds(3_600)

    /// Says which tiers are holding tiers; nil where copies for a missing tier wait until it is there.
    private let policy: RetryPolicy?
    /// The positions of the missing tiers, as far as the broker has said on this connection.
    private(set) var positions: Set<Int> = []
    /// When the tiers are tried again.
    private var triesAt = MonotonicTime(nanoseconds: 0)

    /// No tier is known to be missing.
    ///
    /// - Parameter policy: Says which tiers are holding tiers; nil to let copies wait until a missing tier is there.
    init(_ policy: RetryPolicy?) { self.policy = policy }

    /// The position of the tier that copies go into instead; nil without one.
    func substitute(for tier: Int) -> Int? { policy?.substitute(for: tier) }

    /// Whether a publication is a copy for a holding tier.
    func holds(_ publication: Publication) -> Bool {
        guard let policy, case .retry(let tier) = publication.destination else { return false }
        return policy.isHolding(tier)
    }

    /// Whether a publication would go into another tier if its own were missing.
    func redirects(_ publication: Publication) -> Bool {
        // A line forms behind a publication that reached its exchange, so the exchange exists.
        !publication.isInLine && holds(publication)
    }

    /// The broker lacks the tier at this position.
    mutating func note(_ tier: Int, now: MonotonicTime) {
        if positions.isEmpty { triesAt = now + Self.memory }
        positions.insert(tier)
    }

    /// Forgets what is missing once it is time to try again.
    mutating func passTime(now: MonotonicTime) {
        if !positions.isEmpty, now >= triesAt { forget() }
    }

    /// There is another connection, to a broker that has perhaps all tiers.
    mutating func forget() { positions = [] }
}
