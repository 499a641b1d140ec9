import EventLoop

/// Tells whether one route or the whole lane cannot publish: RabbitMQ may refuse one route's publications and confirm
/// those of another. Pure: time comes in.
struct PublishingProof {
    /// When the broker last confirmed a publication; nil for never.
    private(set) var confirmedAt: MonotonicTime?
    /// Since when the broker has not taken some publications; nil while it takes all.
    private(set) var troubledSince: MonotonicTime?
    /// Routes with a publication that was confirmed after `troubledSince`, and none refused after that confirm.
    private var sound: Set<Int> = []

    /// Starts without publications.
    init() {}

    /// Whether the broker takes a route's publications although it does not take those of another route.
    func isSound(_ route: Int) -> Bool { sound.contains(route) }

    /// The broker confirmed a publication.
    ///
    /// - Parameters:
    ///   - route: The position of its route.
    ///   - isStalled: Whether the broker did not take other publications of the route.
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

    /// Notes at each turn whether the broker takes all publications. If it does, the trouble is over.
    mutating func passTime(isTroubleFree: Bool, now: MonotonicTime) {
        if !isTroubleFree {
            troubledSince = troubledSince ?? now
        } else if troubledSince != nil {
            troubledSince = nil
            sound.removeAll()
        }
    }
}
