internal import EventLoop

/// Decides when a route's connections to a host are opened and closed, and when the jobs that wait for them give up.
/// Pure: time comes in.
///
/// A worker may have hundreds of routes, and APNs wants connects to be rare: so the first job opens the connections, and a
/// route without jobs has none. What happens then depends on the host:
/// - For devices they stay, because Apple wants connections to live long. The pool keeps them up without jobs too, and a
///   job waits for them as long as it takes.
/// - For channels they are closed after a rest. A host that cannot be reached is not knocked at again and again: its jobs
///   go to the retry tiers at once.
struct OnDemandStateMachine {
    /// How long a connection rests before it is closed; Apple wants connections to live long.
    static let idleTime = Duration.seconds(600)
    /// How long jobs wait for a connection on which nothing moves.
    static let patience = Duration.seconds(60)
    /// How long an unreachable host is left alone.
    static let holdOff = Duration.seconds(15)

    /// What is to be done.
    enum Action: Equatable {
        /// Open the connection.
        case open
        /// Close it: nobody has needed it for a while.
        case close
        /// Tell the jobs that wait that the host cannot be reached, and close what is left of the connection.
        case giveUp
    }

    /// What stands between a host and its jobs.
    struct Situation {
        /// Whether jobs wait to be sent.
        var hasWaiting = false
        /// How much the breaker lets through.
        var intake = RouteBreaker.Intake.full
        /// Whether results cannot be published, so that nothing may be sent.
        var isCongested = false
        /// Whether the route's rate allows a request.
        var isWithinRate = true

        /// Whether only the connection is missing. Nothing else that keeps jobs waiting is the host's fault, so that
        /// they do not give up over it.
        var wantsConnection: Bool { hasWaiting && intake != .none && !isCongested && isWithinRate }
    }

    /// Whether what was opened stays, and jobs wait for it.
    private let stays: Bool
    /// Whether there is a connection, or one is being made.
    private(set) var isOpen = false
    private var notBefore = MonotonicTime(nanoseconds: 0)
    private var stalledSince: MonotonicTime?
    private var idleSince: MonotonicTime?

    /// A host without a connection.
    ///
    /// - Parameter stays: Whether what was opened stays, and jobs wait for it.
    init(stays: Bool) { self.stays = stays }

    /// Whether `next` will not ask for anything any more.
    var isSettled: Bool { isOpen && stays }

    /// When `next` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        if let stalledSince { return stalledSince + Self.patience }
        return idleSince.map { $0 + Self.idleTime }
    }

    /// What is to be done now.
    ///
    /// - Parameters:
    ///   - isWanted: whether jobs wait that may be sent.
    ///   - isBusy: whether requests are open.
    ///   - now: the time.
    mutating func next(isWanted: Bool, isBusy: Bool, now: MonotonicTime) -> Action? {
        guard isOpen else {
            guard isWanted else { return nil }
            guard now >= notBefore else { return .giveUp }
            isOpen = true
            stalledSince = stays ? nil : now
            return .open
        }
        guard !stays else { return nil }
        if isWanted {
            idleSince = nil
            let since = stalledSince ?? now
            stalledSince = since
            guard now >= since + Self.patience else { return nil }
            failed(now: now)
            return .giveUp
        }
        stalledSince = nil
        guard !isBusy else {
            idleSince = nil
            return nil
        }
        let since = idleSince ?? now
        idleSince = since
        guard now >= since + Self.idleTime else { return nil }
        close()
        return .close
    }

    /// The host answered a request: what waits has reason to wait on.
    mutating func answered() { stalledSince = nil }

    /// No connection could be made, and there is no other.
    mutating func failed(now: MonotonicTime) {
        close()
        notBefore = now + Self.holdOff
    }

    private mutating func close() {
        isOpen = false
        stalledSince = nil
        idleSince = nil
    }
}
