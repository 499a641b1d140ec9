package import EventLoop

/// Decides whether a route works, is parked, or is being probed.
///
/// - A route whose credential is refused parks. It consumes nothing, then probes with one job after a growing delay. It
///   works again once the answer to a probe shows that the credential is accepted (`Answers.md`, "A route that parks").
/// - A route also parks if APNs answers its pushes with nothing but errors of its own. These errors would otherwise
///   cost every job its attempts.
/// - A route that cannot get a connection takes no jobs until there is one. After an outage it takes one job at a time
///   until the connection has proved good.
/// - A route that needs no connection never counts as unable to get one.
///
/// Pure: time comes in.
package struct RouteBreaker {
    /// What the route may do now.
    package enum State: Equatable, Sendable {
        /// Everything.
        case working
        /// Nothing, because the credential was refused or APNs is in trouble. A probe is due at the given time.
        case parked(until: MonotonicTime)
        /// One job at a time, to learn whether APNs takes it again.
        case probing
    }

    /// The delay before the first probe.
    package static let firstProbeDelay = Duration.seconds(5)
    /// The longest delay between probes.
    package static let longestProbeDelay = Duration.seconds(300)

    /// What the answers of APNs and its refusals of the credential let the route do. Connections and `isHeld` may allow
    /// less (`intake`).
    package private(set) var state: State = .working
    /// The delay that the current or next parking uses.
    package private(set) var probeDelay = RouteBreaker.firstProbeDelay
    /// How long a route goes on taking jobs without a connection. Then APNs counts as unreachable. Reconnecting is
    /// usually quicker, and jobs that are given back count as delivered once more.
    package static let disconnectGrace = Duration.seconds(5)

    /// How long a stopped route keeps its unsent jobs. The trouble of one worker is often the trouble of all. Jobs that
    /// went from worker to worker would count as delivered so often that they look like poison.
    package static let handBackDelay = Duration.seconds(10)

    /// The number of errors of APNs in a row, without any other answer between them, after which the route may park.
    package static let troubleLimit = 128
    /// How long there must have been nothing but errors before the route parks. An APNs that still takes every tenth
    /// push answers those pushes first. The errors for the rest of a window then come in one long row.
    package static let troubleTime = Duration.seconds(5)

    /// Errors of APNs since any other answer.
    private var troubles = 0
    /// When the first of them came.
    private var troublesSince = MonotonicTime(nanoseconds: 0)
    /// Draws the waits before probes while APNs is in trouble: up to 2 s at first, up to 30 s later.
    private var troubleBackoff = RouteBreaker.freshBackoff
    /// The backoff for probes of an APNs that is in trouble, before its first wait. Its bound begins at 2 s and doubles
    /// up to 30 s.
    package static var freshBackoff: Backoff { Backoff(base: .seconds(2), cap: .seconds(30)) }

    /// Whether the route is parked, or probes, because APNs answered nothing but errors of its own.
    package private(set) var isTroubled = false

    /// Whether APNs can be reached, as far as is known. True if there is a connection, if none was needed yet, or if
    /// the last was lost, or the first attempt failed, less than `disconnectGrace` ago.
    package private(set) var isReachable = true
    private var lostAt: MonotonicTime?

    /// Whether a connection came after an outage and no request on it was answered yet. The route then takes one job at
    /// a time. Otherwise a server that accepts connections and then closes them would cost a whole window of jobs each
    /// time, and all of these jobs would be handed back.
    private var isUnproven = false
    /// When an unproven connection counts as proven even without an answer. Not every route pushes to devices.
    private var provenDue: MonotonicTime?
    /// How long an unproven connection must last to count as proven. This is the default time that a request may stay
    /// without an answer.
    package static let provingTime = Duration.seconds(30)
    /// Whether there was a connection, since the start or the last rest.
    package private(set) var wasConnected = false
    /// Until when an outage may be one of many short ones.
    private var relapseEnd: MonotonicTime?
    /// How long after the loss of a connection another one may be on its way: twice the longest wait of the pool.
    package static let relapseTime = Duration.seconds(60)

    /// When unsent jobs may be handed back; nil while everything may be taken.
    private var handBackDue: MonotonicTime? { stoppedSince.map { $0 + Self.handBackDelay } }
    /// Since when not everything may be taken, as far as `tick` has seen; nil while it may.
    package private(set) var stoppedSince: MonotonicTime?
    /// When one job will be tried; nil unless the route is parked, its credential can be used, and APNs can be reached.
    package var probeAt: MonotonicTime? {
        guard case .parked(let until) = state, !isHeld, isReachable else { return nil }
        return until
    }
    /// Whether the route has been stopped for so long that other workers should have its unsent jobs.
    package private(set) var mayHandBack = false

    /// Creates a breaker that has heard nothing bad yet.
    package init() {}

    /// Whether the route does nothing, because its credential cannot be used now.
    package var isHeld = false

    /// Whether the credential was refused or APNs is in trouble, and no probe is due yet.
    package var isParked: Bool { if case .parked = state { true } else { false } }

    /// Whether one job will be tried once a pause is over. False with a credential that cannot be used now. Where APNs
    /// cannot be reached, true only if the lost connection was unproven, for `relapseTime` after its loss.
    package var awaitsProbe: Bool {
        guard !isHeld else { return false }
        return isReachable ? state != .working || isUnproven : relapseEnd != nil
    }

    /// After how long the rest of started multicast jobs should be tried again; nil while the route goes on with them.
    ///
    /// Requeueing a started multicast pushes its settled tokens twice. Holding it until RabbitMQ's `consumer_timeout`
    /// does the same.
    ///
    /// - Parameters:
    ///   - isDraining: Whether the lane drains.
    ///   - isLeaving: Whether the lane's time for sending is over.
    package func splitDelay(isDraining: Bool, isLeaving: Bool) -> Duration? {
        // Another worker can go on at once.
        if isLeaving { return .zero }
        let isStopped = intake == .none && (isDraining || mayHandBack)
        return isParked || isStopped ? probeDelay : nil
    }

    /// Whether jobs may be taken from the queue, and how many at a time.
    package var intake: Intake {
        guard isReachable, !isHeld else { return .none }
        switch state {
        case .working: return isUnproven ? .one : .full
        case .probing: return .one
        case .parked: return .none
        }
    }

    /// How much a route may consume.
    package enum Intake: Equatable, Sendable {
        case none, one, full
    }

    /// APNs refused the credential: park, and double the delay if this was the probe.
    ///
    /// Many answers may refuse at once; only the first of them parks.
    package mutating func credentialRefused(now: MonotonicTime) {
        switch state {
        case .parked: return
        case .working: probeDelay = Self.firstProbeDelay
        case .probing: probeDelay = min(Self.longestProbeDelay, probeDelay * 2)
        }
        isTroubled = false
        state = .parked(until: now + probeDelay)
    }

    /// APNs answered a push. The caller then reports separately whether the credential was refused or accepted.
    ///
    /// - Parameters:
    ///   - isTrouble: Whether the answer says that APNs cannot serve the route now.
    ///   - now: The time.
    ///   - random: Spreads the probes of many workers.
    package mutating func answered(isTrouble: Bool, now: MonotonicTime, random: inout some RandomNumberGenerator) {
        isUnproven = false
        provenDue = nil
        guard isTrouble else {
            troubles = 0
            if isTroubled { state = .working }
            isTroubled = false
            if state == .working { troubleBackoff = Self.freshBackoff }
            return
        }
        if troubles == 0 { troublesSince = now }
        troubles = min(troubles + 1, Self.troubleLimit)
        let isHopeless = troubles == Self.troubleLimit && now >= troublesSince + Self.troubleTime
        guard state == .working ? isHopeless : isTroubled && state == .probing else { return }
        isTroubled = true
        probeDelay = Self.firstProbeDelay
        state = .parked(until: now + troubleBackoff.next(using: &random))
    }

    /// An answer that shows the credential is accepted: work again.
    package mutating func credentialAccepted() {
        guard case .probing = state else { return }
        isTroubled = false
        state = .working
        probeDelay = Self.firstProbeDelay
    }

    /// A usable credential replaced one that was refused or not valid. Learn at once whether APNs accepts it.
    package mutating func credentialReplaced() {
        guard isParked || isHeld else { return }
        isHeld = false
        isTroubled = false
        state = .probing
        probeDelay = Self.firstProbeDelay
    }

    /// The pool gained its first usable connection, lost its last, or could not open any.
    package mutating func connectivityChanged(isConnected: Bool, now: MonotonicTime) {
        if isConnected {
            if !isReachable, wasConnected { isUnproven = true }
            if isUnproven { provenDue = provenDue ?? now + Self.provingTime }
            lostAt = nil
            relapseEnd = nil
            isReachable = true
            wasConnected = true
            return
        }
        provenDue = nil
        if lostAt == nil, isReachable {
            lostAt = now
            relapseEnd = isUnproven ? now + Self.relapseTime : nil
        }
    }

    /// The connections were closed because nobody needs them. There was no outage, and the next ones are like the
    /// first.
    package mutating func connectionsClosed() {
        isReachable = true
        lostAt = nil
        relapseEnd = nil
        provenDue = nil
        isUnproven = false
        wasConnected = false
    }

    /// Time passed. A parked route whose delay is over starts probing, and a lost connection becomes an outage.
    package mutating func tick(now: MonotonicTime) {
        if case .parked(let until) = state, now >= until { state = .probing }
        if let lostAt, now >= lostAt + Self.disconnectGrace {
            isReachable = false
            self.lostAt = nil
        }
        if let end = relapseEnd, now >= end { relapseEnd = nil }
        if let due = provenDue, now >= due {
            isUnproven = false
            provenDue = nil
        }
        stoppedSince = intake == .full ? nil : stoppedSince ?? now
        mayHandBack = handBackDue.map { now >= $0 } ?? false
    }

    /// When `tick` has something to do; nil for never. The time is in the past if `tick` has not seen yet that the
    /// route stopped.
    package var nextTick: MonotonicTime? {
        var next = MonotonicTime.distantFuture
        if let lostAt { next = min(next, lostAt + Self.disconnectGrace) }
        if case .parked(let until) = state { next = min(next, until) }
        if let relapseEnd { next = min(next, relapseEnd) }
        if let provenDue { next = min(next, provenDue) }
        if !mayHandBack {
            if let handBackDue {
                next = min(next, handBackDue)
            } else if intake != .full {
                next = MonotonicTime(nanoseconds: 0)
            }
        }
        return next == .distantFuture ? nil : next
    }
}
