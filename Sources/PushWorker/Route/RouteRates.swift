import EventLoop
import PushModel

/// The rates that hold a route back. One is configured. The other is the worker's part of a rate that
/// operators set for all workers. The lower one counts, and one that is held counts as the lowest. While it is held, the
/// configured rate holds the route back as well.
///
/// A class, because the parts of the route share it. Confined to its lane. Time comes in.
final class RouteRates {
    /// How the rate that counts has changed.
    enum Change: Equatable {
        /// The rate is the same as before.
        case none
        /// Another rate counts, and allows less.
        case lower
        /// Another rate counts that does not allow less, or no rate counts.
        case other
    }

    /// The rate that counts; nil without any.
    private(set) var current: SendingRate?
    /// The configured rate while a held part counts. That part may be too large, so both hold the route back.
    private var beside: SendingRate?
    /// When the rate allows the next request; nil unless it held the route back in this turn.
    private(set) var nextDue: MonotonicTime?
    private var configured: SendingRate?
    private var fleet: SendingRate?
    /// Multicast jobs that are half sent because the rate holds the rest back.
    private var slow = SlowJobs()

    /// Begins with the configured rate; nil for no limit.
    init(configured: SendingRate?) { (self.configured, current) = (configured, configured) }

    /// Whether this worker has a part of a rate for all workers.
    var hasPart: Bool { fleet != nil }

    /// Holds the route to another configured rate; nil for no limit.
    func limit(to rate: SendingRate?) -> Change {
        configured = rate
        return follow()
    }

    /// Holds the route to another part of the rate for all workers; nil for no limit.
    ///
    /// - Returns: How the rate that counts has changed; nil if this part is the same as before.
    func limitForFleet(to rate: SendingRate?) -> Change? {
        guard rate !== fleet else { return nil }
        fleet = rate
        return follow()
    }

    private func follow() -> Change {
        let rate = [configured, fleet].compactMap(\.self).min { $0.promised < $1.promised }
        let second = rate?.promised == 0 ? configured : nil
        guard rate !== current || second !== beside else { return .none }
        beside = second
        guard rate !== current else { return .none }
        let isLower = rate.map { $0.promised < current?.promised ?? .infinity } ?? false
        current = rate
        return isLower ? .lower : .other
    }

    // MARK: In a turn

    /// A turn begins.
    func turnBegan() { nextDue = nil }

    /// Takes as many requests as the rate allows now, for any host. The caller gives back those that it does not use.
    ///
    /// - Parameters:
    ///   - room: How many requests may be submitted; afterwards no more than were taken.
    ///   - isUrgent: Whether `high` jobs wait that go first.
    ///   - now: The time.
    func take(_ room: inout SendingRoom, isUrgent: Bool, now: MonotonicTime) {
        guard let current else { return }
        let most = isUrgent ? room.total : room.normal
        guard most > 0 else { return room.limit(to: 0) }
        var taken = current.take(upTo: most, now: now)
        if let beside {
            let allowed = beside.take(upTo: taken, now: now)
            current.giveBack(taken - allowed)
            taken = allowed
        }
        // The `high` jobs may need more than was taken: they go on as soon as the rate allows more.
        if taken == 0 || isUrgent && taken < most { nextDue = due(now: now) }
        room.limit(to: taken)
    }

    /// Gives back requests that were taken and not used. A negative number takes more than the rate allows now.
    func giveBack(_ count: Int) {
        current?.giveBack(count)
        beside?.giveBack(count)
    }

    /// Whether the rate allows a request now. If not, `nextDue` says when it allows the next one.
    func allowsOne(now: MonotonicTime) -> Bool {
        let isAllowed = (current?.available(now: now) ?? 1) > 0 && (beside?.available(now: now) ?? 1) > 0
        if !isAllowed { nextDue = due(now: now) }
        return isAllowed
    }

    /// When the next request may go out, if none may go out now.
    private func due(now: MonotonicTime) -> MonotonicTime {
        max(current?.nextDue(now: now) ?? now, beside?.nextDue(now: now) ?? now)
    }

    /// Looks at the multicast job of a class that is partly sent now.
    ///
    /// - Parameters:
    ///   - job: The job; nil without one, or without a rate.
    ///   - jobClass: The class of the list in which the job waits.
    ///   - now: The time.
    /// - Returns: Whether the rate has kept the job half sent for too long.
    func keepsTooLong(_ job: JobInFlight?, of jobClass: JobClass, now: MonotonicTime) -> Bool {
        slow.isOverdue(job, of: jobClass, now: now)
    }
}
