/// How far a route has gone on its way off the lane. Each step follows the one before it, and no step is undone. Pure.
enum RouteTenure: Int, CaseIterable {
    /// It stays.
    case staying
    /// It was removed: it takes no more jobs, finishes what is in flight and gives the rest back.
    case leaving
    /// Nothing of it is left: its connections to APNs are closed, and its channel will be in a while.
    case ended
    /// The lane has let go of it: another route may have its number.
    case left
    /// Its channel is closed, too: another route may take its position.
    case vacant

    /// Takes a step, if its turn has come.
    ///
    /// - Returns: Whether the step was taken now: false for one that was taken before, or whose turn has not come.
    @discardableResult
    mutating func step(to next: RouteTenure) -> Bool {
        guard next.rawValue == rawValue + 1 else { return false }
        self = next
        return true
    }
}
