import EventLoop

/// Decides when a route's connections to a host are opened and closed, and when jobs no longer wait for connections.
/// Pure: time comes in.
///
/// A worker may have hundreds of routes, and APNs wants connects to be rare. So the first job opens the connections,
/// and a route without jobs has no connections. The connections are closed after a rest, and the next job opens them
/// again. While a host cannot be reached:
/// - A job for devices waits as long as it takes. The pool keeps the connections up until their rest is over.
/// - A job about broadcast channels does not wait. The job goes to a retry tier at once, and no connection to the host
///   is opened for a while.
struct OnDemandStateMachine {
    /// How long connections for broadcast channels rest before they are closed.
    static let idleTimeOfBroadcastChannels = Duration.seconds(600)
    /// How long jobs about broadcast channels wait for a connection on which nothing moves.
    static let patienceOfBroadcastChannels = Duration.seconds(60)
    /// How long no connection to an unreachable host is opened.
    static let holdOff = Duration.seconds(15)

    /// What is to be done.
    enum Action: Equatable {
        /// Open the connection.
        case open
        /// Close the connection: nobody has needed it for a while.
        case close
        /// Tell the waiting jobs that the host cannot be reached, and close what is left of the connection.
        case giveUp
    }

    /// The facts that decide whether jobs can be sent to a host.
    struct Situation {
        /// Whether jobs wait to be sent.
        var hasWaiting = false
        /// How much the breaker lets through.
        var intake = RouteBreaker.Intake.full
        /// Whether nothing may be sent, because results cannot be published or operators have halted the route.
        var isCongested = false
        /// Whether the route's rate allows a request.
        var isWithinRate = true

        /// Whether only a connection is missing. Jobs stop waiting for a host only then.
        var wantsConnection: Bool { hasWaiting && intake != .none && !isCongested && isWithinRate }
    }

    /// How long the connection rests before it is closed.
    private let idleTime: Duration
    /// How long jobs wait for a connection on which nothing moves; nil for as long as it takes.
    private let patience: Duration?
    /// Whether there is a connection, or one is being made.
    private(set) var isOpen = false
    private var notBefore = MonotonicTime(nanoseconds: 0)
    private var stalledSince: MonotonicTime?
    /// When the rest is over; `distantFuture` while the connection does not rest.
    private var restEnd = MonotonicTime.distantFuture

    /// A host without a connection.
    ///
    /// - Parameters:
    ///   - idleTime: How long the connection rests before it is closed.
    ///   - patience: How long jobs wait for a connection on which nothing moves; nil for as long as it takes.
    init(idleTime: Duration, patience: Duration?) {
        self.idleTime = idleTime
        self.patience = patience
    }

    /// When `next` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        if let stalledSince, let patience { return stalledSince + patience }
        return restEnd == .distantFuture ? nil : restEnd
    }

    /// Whether `next` has nothing to decide and nothing to note. This saves time, because a busy route asks in each of
    /// its turns.
    ///
    /// - Parameters:
    ///   - isInUse: Whether requests are open, or notifications wait.
    ///   - now: The time.
    func isSettled(isInUse: Bool, now: MonotonicTime) -> Bool {
        guard isOpen, patience == nil else { return false }
        return isInUse ? restEnd == .distantFuture : restEnd != .distantFuture && now < restEnd
    }

    /// What is to be done now.
    ///
    /// - Parameters:
    ///   - isWanted: Whether jobs wait that may be sent.
    ///   - isBusy: Whether the connection may not rest, because requests are open or the route still needs it.
    ///   - now: The time.
    mutating func next(isWanted: Bool, isBusy: Bool, now: MonotonicTime) -> Action? {
        guard isOpen else {
            guard isWanted else { return nil }
            guard now >= notBefore else { return .giveUp }
            isOpen = true
            stalledSince = patience == nil ? nil : now
            return .open
        }
        if isWanted {
            restEnd = .distantFuture
            guard let patience else { return nil }
            let since = stalledSince ?? now
            stalledSince = since
            guard now >= since + patience else { return nil }
            failed(now: now)
            return .giveUp
        }
        stalledSince = nil
        guard !isBusy else {
            restEnd = .distantFuture
            return nil
        }
        if restEnd == .distantFuture { restEnd = now + idleTime }
        guard now >= restEnd else { return nil }
        close()
        return .close
    }

    /// The host answered a request: the time for which jobs wait begins anew.
    mutating func answered() { stalledSince = nil }

    /// No connection could be made, and there is no other.
    mutating func failed(now: MonotonicTime) {
        close()
        notBefore = now + Self.holdOff
    }

    /// The connections were closed: nobody needed them, other workers serve the route, or the route has ended.
    mutating func rest() { close() }

    private mutating func close() {
        isOpen = false
        stalledSince = nil
        restEnd = .distantFuture
    }
}
