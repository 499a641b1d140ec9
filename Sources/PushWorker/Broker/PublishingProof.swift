import EventLoop

/// Tells whether one route or the whole lane cannot publish: RabbitMQ may refuse one route's publications and confirm
/// those of another. Pure: time comes in.
struct PublishingProof {
    /// When the broker last confirmed a publication; nil for never.
    private(set) var confirmedAt: MonotonicTime?
    /// Since when the broker has not taken some publications; nil while it takes all.
    private(set) var troubledSince: MonotonicTime?
    /// Routes whose publications were confirmed since then, and not refused.
    private var sound: Set<Int> = []

    /// Starts without publications.
    init() {}

    /// Whether the broker takes a route's publications although it does not take those of another one.
    func isSound(_ route: Int) -> Bool { sound.contains(route) }

    /// The broker confirmed a publication.
    ///
    /// - Parameters:
    ///   - route: The position of its route.
    ///   - isStalled: Whether others of the route are refused.
    ///   - now: The time.
    mutating func confirmed(_ route: Int, isStalled: Bool, now: MonotonicTime) {
        confirmedAt = now
        if troubledSince != nil, !isStalled { sound.insert(route) }
    }

    /// The broker refused a publication of a route.
    mutating func refused(_ route: Int, now: MonotonicTime) {
        troubledSince = troubledSince ?? now
        sound.remove(route)
    }

    /// Notes at each turn whether publications are refused or lost at all.
    mutating func passTime(isTroubleFree: Bool, now: MonotonicTime) {
        if !isTroubleFree {
            troubledSince = troubledSince ?? now
        } else if troubledSince != nil {
            troubledSince = nil
            sound.removeAll()
        }
    }
}
