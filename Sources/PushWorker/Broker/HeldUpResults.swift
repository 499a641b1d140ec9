import EventLoop

/// Since when results could not go out, for all routes together and for each route. If that lasts, another worker
/// should get the jobs that were not sent. Pure: time comes in.
struct HeldUpResults {
    /// How long results may be unable to go out.
    private let limit: Duration
    /// Since when the results of all routes could not go out, without a pause; nil while they can.
    private var allSince: MonotonicTime?
    /// Since when the results of each route could not go out, without a pause, by the route's position.
    private var since: [Int: MonotonicTime] = [:]

    /// No results are held up.
    ///
    /// - Parameter limit: How long results may be unable to go out.
    init(limit: Duration) { self.limit = limit }

    /// Whether the results of all routes could not go out for too long.
    func areAll(now: MonotonicTime) -> Bool { allSince.map { now >= $0 + limit } ?? false }

    /// When the results of a route will have been unable to go out for too long; nil while they go out.
    func dueAt(_ route: Int) -> MonotonicTime? { since.isEmpty ? nil : since[route].map { $0 + limit } }

    /// Notes at each turn what cannot go out.
    ///
    /// - Parameters:
    ///   - isCongested: Whether the results of all routes cannot go out.
    ///   - stalled: The positions of routes whose own publications hold them up.
    ///   - now: The time.
    mutating func note(isCongested: Bool, stalled: Set<Int>, now: MonotonicTime) {
        allSince = isCongested ? allSince ?? now : nil
        guard !since.isEmpty || !stalled.isEmpty else { return }
        since = Dictionary(uniqueKeysWithValues: stalled.map { ($0, since[$0] ?? now) })
    }
}
