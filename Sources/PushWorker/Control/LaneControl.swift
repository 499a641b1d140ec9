import EventLoop

/// A lane's knowledge of what operators want, and when its routes are to be told. Pure: time comes in.
struct LaneControl {
    /// The longest time for which the routes of a lane that reaches the broker take no jobs because it is not known
    /// what operators want. The control reader reads both streams in less time, so a pause also holds for a worker that
    /// starts.
    static let patience = Duration.seconds(10)

    /// What operators want, as far as is known.
    private(set) var state = ControlState()
    /// This worker's parts of the rates that operators set for all workers, by the routes' names.
    private var rates: [String: (part: FleetRates.Part, rate: SendingRate)] = [:]
    /// Rates that allow nothing yet, for routes whose part is not known.
    private var awaitedRates: [String: SendingRate] = [:]
    /// Whether routes are to take no jobs yet, because it is not known what operators want.
    private(set) var isAwaited: Bool
    private let startedAt: Int64
    private var awaitedUntil = MonotonicTime.distantFuture
    private var hasNews: Bool
    /// When the next command in force ends by itself, in milliseconds since 1970; the largest number for never.
    private var nextEnd = Int64.max
    /// The time of the last `isDue(isConnected:at:)`, in milliseconds since 1970. After a clock was set back, commands
    /// that had ended are in force again.
    private var askedAt = Int64.min

    /// Starts with nothing known.
    ///
    /// - Parameters:
    ///   - isAwaited: Whether it will be told.
    ///   - startedAt: The time in milliseconds since 1970.
    init(isAwaited: Bool, startedAt: Int64) {
        self.isAwaited = isAwaited
        self.startedAt = startedAt
        hasNews = isAwaited
    }

    /// This worker has these parts of the rates from now on. A part that stays keeps its bucket.
    mutating func deal(_ parts: [String: FleetRates.Part], now: MonotonicTime) {
        let earlier = rates
        rates = [:]
        for (route, part) in parts {  // In any order.
            let known = earlier[route]
            rates[route] = known?.part == part ? known : (part, part.rate(now: now, after: known?.rate))
        }
    }

    /// This worker's part of the rate that operators set for all workers; nil without such a rate. The part of a route
    /// that was added is not known at first. Until it is known, the rate allows nothing, for `FleetRates.longestHold`
    /// at most.
    ///
    /// - Parameters:
    ///   - route: The route's name.
    ///   - moment: The time.
    mutating func fleetRate(ofRoute route: String, at moment: Moment) -> SendingRate? {
        guard rates[route] == nil, let perSecond = state.rate(ofRoute: route, at: moment.wall)?.perSecond else {
            awaitedRates[route] = nil
            return rates[route]?.rate
        }
        let rate =
            awaitedRates[route]
            ?? SendingRate(
                perSecond: perSecond, fillingFrom: moment.monotonic + FleetRates.longestHold, isHeld: true)
        awaitedRates[route] = rate
        return rate
    }

    /// What operators want of a route.
    ///
    /// - Parameters:
    ///   - route: The route's name.
    ///   - campaigns: The campaigns that are paused or cancelled at that time, of all routes.
    ///   - wall: The time in milliseconds since 1970.
    func wanted(ofRoute route: String, _ campaigns: CampaignIndex, at wall: Int64) -> RouteControl {
        // A `trust` that is older than this lane was about the answers of its time. It must not end a hold of today, even
        // if the stream can be read only now.
        let trust = state.trust(ofRoute: route).flatMap { $0.issuedAt < startedAt ? nil : $0.id }
        return RouteControl(
            isAwaited: isAwaited, pause: state.pause(ofRoute: route, at: wall), campaigns: campaigns, trust: trust)
    }

    /// Something else is wanted from now on.
    mutating func learned(_ state: ControlState) {
        self.state = state
        isAwaited = false
        hasNews = true
    }

    /// Whether the routes are to be told what they are to do.
    ///
    /// - Parameters:
    ///   - isConnected: Whether the lane reaches the broker. `patience` counts from then.
    ///   - moment: The time.
    mutating func isDue(isConnected: Bool, at moment: Moment) -> Bool {
        if isAwaited, isConnected {
            awaitedUntil = min(awaitedUntil, moment.monotonic + Self.patience)
            if moment.monotonic >= awaitedUntil { (isAwaited, hasNews) = (false, true) }
        }
        if moment.wall < askedAt { hasNews = true }
        askedAt = moment.wall
        return hasNews || moment.wall >= nextEnd
    }

    /// The routes are told now.
    ///
    /// - Parameter wall: The time in milliseconds since 1970.
    mutating func told(at wall: Int64) {
        hasNews = false
        nextEnd = state.nextEnd(after: wall) ?? .max
    }
}
