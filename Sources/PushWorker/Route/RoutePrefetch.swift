import EventLoop
import PushModel

/// How many messages the broker may deliver to a route on one lane: the credit of its queues, within their share of the
/// worker's memory.
///
/// A class, because it learns from every message that arrives. Confined to its lane. Time comes in.
final class RoutePrefetch {
    /// What decides how many messages a route may take now.
    struct Situation {
        /// What the route's breaker lets in.
        var intake = RouteBreaker.Intake.full
        /// How many streams its connections have, open or free.
        var streams = RouteCredit.maximum
        /// Whether suspects wait.
        var hasSuspects = false
        /// Whether jobs are taken one at a time, until it is known whether the first one came back often.
        var isNarrow = false
        /// Whether no request is open and nothing waits to be sent.
        var isQuiet = true
        /// Whether no connection was opened yet, or all rest.
        var isUnconnected = false
        /// Whether the last job went on to a tier, because its time has not come.
        var isSendingOn = false
        /// Whether a stopped route looks for expired jobs.
        var isLooking = false
    }

    /// How many messages each queue may deliver.
    struct Window: Equatable {
        /// Each queue of normal jobs and retries.
        var normal = 0
        /// The queue of `high` jobs that go first; nil where it has the same number as the others.
        var high: Int?
    }

    /// The credit of each queue of normal jobs and retries.
    private(set) var credit: RouteCredit
    /// The credit of the queue of `high` jobs that go first. It learns from `high` jobs alone; nil without such a
    /// queue.
    private var highCredit: RouteCredit?
    /// The part of the worker's memory for jobs that the route uses.
    private(set) var memory: MemoryClaim
    private let queues: Int

    /// Starts with what the configuration says.
    ///
    /// - Parameters:
    ///   - credit: The credit of a queue of normal jobs.
    ///   - takesHighFirst: Whether `high` jobs have a queue that goes first.
    ///   - budget: The worker's memory for jobs.
    ///   - queues: How many queues the route has.
    init(_ credit: RouteCredit, takesHighFirst: Bool, budget: SharedMemoryBudget, queues: Int) {
        self.credit = credit
        self.queues = queues
        highCredit = takesHighFirst ? credit.counting(on: 1 - HighFirst.normalShare) : nil
        memory = MemoryClaim(budget, queues: queues)
    }

    /// Learns that the route has another rate.
    ///
    /// - Parameter rate: Notifications per second and lane; nil for no limit.
    func limit(to rate: Double?) {
        credit.limit(to: rate)
        highCredit?.limit(to: rate)
    }

    /// Learns the shape of a message that arrived.
    ///
    /// - Parameters:
    ///   - jobClass: The class of its job.
    ///   - notifications: How many notifications it stands for.
    ///   - bytes: The size of its headers and body.
    func arrived(_ jobClass: JobClass, notifications: Int, bytes: Int) {
        guard jobClass == .high, highCredit != nil else {
            return credit.arrived(notifications: notifications, bytes: bytes)
        }
        highCredit?.arrived(notifications: notifications, bytes: bytes)
    }

    // MARK: What is wanted

    /// The prefetch wanted of the route's queues.
    ///
    /// - Parameters:
    ///   - situation: The facts that decide.
    ///   - former: The prefetch that was wanted before.
    ///   - current: The prefetch of the present consumers.
    func wanted(in situation: Situation, instead former: Window, current: Window) -> Window {
        switch situation.intake {
        case .none: return Window(normal: situation.isLooking ? wantedToLook(isNarrow: situation.isNarrow) : 0)
        // A job that is already here becomes the next probe. More jobs would only wait, or be given back so often that
        // they look like poison.
        case .one: return Window(normal: situation.isQuiet && !situation.hasSuspects ? 1 : 0)
        // Suspects that came with a whole window are taken up before anything else is delivered.
        case .full where situation.hasSuspects && current.normal != 1: return Window()
        case .full where situation.isNarrow: return Window(normal: 1)
        // The job that opens a connection comes alone. Jobs that only go on to a tier open none, and must not hold up
        // those behind them.
        case .full where situation.isUnconnected && !situation.isSendingOn: return Window(normal: 1)
        case .full where situation.isUnconnected:
            return Window(normal: min(RouteCredit.minimum, credit.wanted(streams: situation.streams, share: share)))
        case .full:
            return Window(
                normal: Self.wanted(by: credit, situation.streams, share, former.normal, current.normal),
                high: highCredit.map {
                    Self.wanted(by: $0, situation.streams, share, former.high, current.high ?? 0)
                })
        }
    }

    /// The prefetch wanted of one queue: as before, unless another prefetch is worth a new consumer.
    private static func wanted(
        by credit: RouteCredit, _ streams: Int, _ share: Int, _ former: Int?, _ current: Int
    ) -> Int {
        let wanted = credit.wanted(streams: streams, share: share)
        guard let former, current > 0, credit.bytes(of: current) <= share,
            !credit.isWorthChanging(from: current, to: wanted)
        else { return wanted }
        return former
    }

    /// How many jobs of each queue a look for expired jobs asks for.
    private func wantedToLook(isNarrow: Bool) -> Int {
        isNarrow ? 1 : min(ExpiryLook.window, credit.wanted(streams: RouteCredit.maximum, share: share))
    }

    /// Whether the prefetch follows the connections and the rate; false where it is a configured number.
    var followsRate: Bool { credit.followsRate }

    // MARK: The worker's memory

    /// What each queue may hold, in bytes.
    private var share: Int { memory.share }

    /// Asks for more or for less of the worker's memory, by how much of its prefetch the route uses.
    ///
    /// - Parameters:
    ///   - isFull: Whether the breaker lets everything in.
    ///   - streams: How many streams the connections have, open or free.
    ///   - wanted: The prefetch wanted of the queues of normal jobs. It counts, because a consumer may deliver before
    ///     the broker's answer says that it started.
    ///   - current: The prefetch of the present consumers.
    ///   - unacknowledged: How many deliveries of the route are not acknowledged.
    ///   - now: The time.
    func claimMemory(
        isFull: Bool, streams: Int, wanted: Int, current: Window, unacknowledged: Int, now: MonotonicTime
    ) {
        let mayArrive = max(current.normal, wanted, unacknowledged / max(1, queues))
        memory.follow(
            MemoryClaim.Use(
                demand: isFull ? credit.demand(streams: streams) : 0,
                isFull: current.normal > 0 && unacknowledged * 2 >= current.normal,
                held: max(credit.bytes(of: mayArrive), highCredit?.bytes(of: current.high ?? 0) ?? 0)),
            now: now)
    }

    /// Gives all of the memory back: the route ends.
    func releaseMemory() { memory.release() }

    /// When time alone gives `claimMemory` something to do; nil for never.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? { memory.nextDue(after: now) }
}
