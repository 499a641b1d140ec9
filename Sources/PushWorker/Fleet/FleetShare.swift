import EventLoop

/// Decides which routes a worker serves if it finds its share by itself. Pure: time comes in.
///
/// The most important rule: a worker never serves fewer routes because something is wrong with the reports. If it
/// cannot write or read them, it serves every route.
struct FleetShare {
    /// How long a worker listens before it decides. Every other worker reports within this time.
    static let listeningTime = FleetMembership.reportInterval + .seconds(2)
    /// How long a route is still served after it became another worker's. The other worker listens for less time, so it
    /// has begun by then.
    static let handoverTime = Duration.seconds(10)
    /// How long reports may be impossible, while the lane reaches the broker, before every route is served.
    static let patience = Duration.seconds(15)
    /// The same where waiting hardly helps, because the queue is missing or forbidden.
    static let refusalPatience = Duration.seconds(5)
    /// How long a report may take to come back. Heartbeats detect a broker that stands still in less time.
    static let echoPatience = Duration.seconds(45)

    private enum Phase: Equatable {
        /// Reports have been impossible since this time, for this reason. After the patience, every route is served.
        case apart(since: MonotonicTime, reason: String, patience: Duration)
        /// The worker listens to the others until this time; nil before its own first report came back.
        case listening(until: MonotonicTime?)
        /// The others are known.
        case sharing
    }

    private let own: FleetReport
    /// By number; nil for a number without a route.
    private var routes: [String?]
    private var membership = FleetMembership()
    private var phase: Phase
    /// Whether the others were known once, so that a share was decided.
    private var hasShared = false
    /// When this worker's own report last came back on this connection.
    private var echoedAt: MonotonicTime?
    /// When this worker's first report was published since one last came back on this connection; nil without such a
    /// report.
    private var unansweredSince: MonotonicTime?
    /// The others for whom `assigned` was worked out.
    private var assignedAmong: Set<String>?
    private var assigned = ServedRoutes([])
    /// The routes that are served.
    private var served: Set<Int> = []
    /// Since when served routes that are to be given up have belonged to another worker.
    private var othersSince: [Int: MonotonicTime] = [:]

    /// Why every route is served, for people; nil while only the share is served.
    private(set) var blindness: String?
    /// How many messages were ignored: they are not reports, or there are more workers than may be known.
    private(set) var ignored = 0

    /// Starts without a route. Routes follow once the others are known, or once it is known that they cannot be heard.
    ///
    /// - Parameters:
    ///   - own: What this worker reports.
    ///   - routes: The names of all routes, by their numbers; nil for a number without a route.
    ///   - now: The time.
    init(_ own: FleetReport, routes: [String?], now: MonotonicTime) {
        self.own = own
        self.routes = routes
        phase = .apart(since: now, reason: "connecting", patience: Self.patience)
    }

    /// How many workers there are, this one included.
    var workers: Int { membership.names.count + 1 }
    /// How many routes belong to this worker; 0 until that is known.
    var assignedCount: Int { numbers.count { assigned.contains($0) } }
    /// The numbers that routes have.
    private var numbers: [Int] { routes.indices.filter { routes[$0] != nil } }
    /// Whether it is still undecided which routes are served.
    var isUndecided: Bool { !hasShared && blindness == nil }

    // MARK: Events

    /// The worker has other routes from now on.
    ///
    /// - Parameter routes: Their names, by their numbers; nil for a number without a route.
    mutating func routesChanged(_ routes: [String?]) {
        let former = self.routes
        self.routes = routes
        assignedAmong = nil
        // Nothing was decided for a route that has taken over the number of another one.
        let isKept: (Int) -> Bool = { routes.indices.contains($0) && former[$0] == routes[$0] }
        served = served.filter(isKept)
        othersSince = othersSince.filter { isKept($0.key) }
    }

    /// Reports can be read from now on.
    mutating func connected() {
        phase = .listening(until: nil)
        echoedAt = nil
        unansweredSince = nil
    }

    /// Reports can be neither read nor written.
    ///
    /// - Parameters:
    ///   - reason: Why, for people.
    ///   - isRefused: Whether the broker refused, so that waiting will hardly help.
    ///   - now: The time.
    mutating func failed(_ reason: String, isRefused: Bool, now: MonotonicTime) {
        var start = now
        if case .apart(let since, _, _) = phase { start = since }
        phase = .apart(
            since: start, reason: reason, patience: isRefused ? Self.refusalPatience : Self.patience)
    }

    /// A report of this worker was confirmed.
    mutating func reported(now: MonotonicTime) { unansweredSince = unansweredSince ?? now }

    /// A message arrived.
    ///
    /// - Parameters:
    ///   - report: The report; nil if the message is not a report.
    ///   - now: The time.
    mutating func heard(_ report: FleetReport?, now: MonotonicTime) {
        guard let report else {
            ignored += 1
            return
        }
        if report == own { return echoed(now: now) }
        // Another worker with the same name serves the same routes, so it is not counted.
        guard report.instance != own.instance else { return }
        if !membership.heard(report, now: now) { ignored += 1 }
    }

    private mutating func echoed(now: MonotonicTime) {
        // The others get time to report: at first, and after a time in which nobody could report or this worker stood
        // still.
        if echoedAt.map({ now - $0 >= Self.listeningTime }) ?? true {
            phase = .listening(until: now + Self.listeningTime)
        }
        echoedAt = now
        unansweredSince = nil
        if phase == .sharing { membership.echoed(now: now) }
    }

    // MARK: The decision

    /// Which routes are served now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - isWorking: Whether the lane reaches the broker and may publish. While it does not, serving more routes would
    ///     not help, and every worker would serve every route once the broker is back.
    mutating func decide(now: MonotonicTime, isWorking: Bool) -> ServedRoutes {
        advance(now: now, isWorking: isWorking)
        if blindness != nil {
            served = Set(numbers)
            othersSince = [:]
        } else if phase == .sharing {
            share(now: now)
        }
        return served.count == numbers.count ? .all : ServedRoutes(served)
    }

    private mutating func advance(now: MonotonicTime, isWorking: Bool) {
        switch phase {
        case .apart(let since, let reason, let patience):
            if !isWorking {
                phase = .apart(since: now, reason: reason, patience: patience)
            } else if now - since >= patience {
                blindness = reason
            }
        case .listening(let end):
            guard let end, let echoedAt, now >= end else { return missEcho(now: now) }
            phase = .sharing
            hasShared = true
            blindness = nil
            membership.echoed(now: echoedAt)
        case .sharing: missEcho(now: now)
        }
    }

    private mutating func missEcho(now: MonotonicTime) {
        guard let since = unansweredSince, now - since >= Self.echoPatience else { return }
        blindness = "this worker's own reports do not come back: see martlet topology check"
        phase = .listening(until: nil)
        echoedAt = nil
    }

    /// Takes up this worker's routes at once. Gives up routes that have been another worker's for long enough.
    private mutating func share(now: MonotonicTime) {
        let names = membership.names
        if names != assignedAmong {
            assignedAmong = names
            assigned = RouteAssignment(workers: names).served(by: own.instance, of: routes)
        }
        for position in numbers {
            guard !assigned.contains(position) else {
                served.insert(position)
                othersSince[position] = nil
                continue
            }
            guard served.contains(position) else { continue }
            let since = othersSince[position] ?? now
            othersSince[position] = since
            guard now - since >= Self.handoverTime else { continue }
            served.remove(position)
            othersSince[position] = nil
        }
    }
}
