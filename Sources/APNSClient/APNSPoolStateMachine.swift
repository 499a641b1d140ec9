import EventLoop

/// Decides how many connections a pool has and when it asks for one. Pure: times and randomness come in.
///
/// Apple wants few connections that live long, opened one after the other. A replacement is opened before the old
/// connection is drained. After each failure in a row the longest wait doubles, up to 30 seconds. The wait is drawn at
/// random between a twentieth of the longest wait and the longest wait.
///
/// An automatic pool grows while work waits and all its connections stay full of streams or of bytes. Over a long
/// distance the window is full long before all streams are open. Full windows are a reason to grow only if the windows
/// are used about as much as their round trips allow. More connections do not make a slow server faster. A connection
/// that is not needed for a long time is closed.
struct APNSPoolStateMachine: Sendable {
    /// The times that decide.
    struct Timing: Sendable {
        /// The least time between two connects while nothing failed.
        var openInterval = Duration.milliseconds(500)
        /// How long all connections must be full before another is opened. If four round trips are longer, they count
        /// instead, because opening a connection takes that long.
        var growthDelay = Duration.milliseconds(200)
        /// How long fewer connections must have been enough before an automatic pool closes one.
        var quietDelay = Duration.seconds(600)
        /// The longest wait after the first failure. It doubles with each further failure.
        var firstBackoff = Duration.milliseconds(200)
        /// The longest wait after any number of failures.
        var longestBackoff = Duration.seconds(30)
        /// The least time between two connects that take the place of silent connections.
        var substituteInterval = Duration.seconds(60)
        /// A connection that ended without an answer counts as a failure if it lived for less time than this.
        var probation = Duration.seconds(60)
    }

    private let count: APNSConnectionCount
    private let timing: Timing
    /// Connections that take requests and need no replacement.
    private(set) var live = 0
    /// Connections that give no sign, so that others may take their place.
    private(set) var silent = 0
    /// Connects under way.
    private(set) var connecting = 0
    /// Failures since a connection last answered its first request.
    private(set) var failures = 0
    /// How many connections there should be.
    private(set) var wanted: Int
    /// Whether nothing is opened any more.
    private(set) var isStopped = false
    /// Whether nothing is opened until the credential is tried again or replaced. The pool sets this.
    var isSuspended = false
    /// When the next connect may begin.
    private var notBefore = MonotonicTime(nanoseconds: 0)
    /// When the next connect may begin while a connection is silent.
    private var substituteNotBefore = MonotonicTime(nanoseconds: 0)
    /// The limit that kept requests from being submitted at the end of the last turn.
    private(set) var limit = APNSPoolLimit.nothing
    /// Since when all connections have been full without a pause, and how much had been submitted by then.
    private var full: (since: MonotonicTime, submittedBytes: UInt64)?
    /// Whether APNs reads more slowly than the windows allow. False once there is room. While the windows stay full, it
    /// is measured again and again.
    private var isServerSlow = false
    /// When `turned(_:now:)` may close a connection if nothing else happens; nil while all connections are needed.
    private(set) var surplusDue: MonotonicTime?

    /// A pool without connections.
    init(_ count: APNSConnectionCount, timing: Timing = Timing()) {
        self.timing = timing
        switch count {
        case .fixed(let number):
            self.count = .fixed(max(1, number))
            wanted = max(1, number)
        case .automatic(let maximum):
            self.count = .automatic(maximum: max(1, maximum))
            wanted = 1
        }
    }

    /// When `wantsConnect` becomes true if nothing else happens; nil if something else must happen first.
    var nextDue: MonotonicTime? { isMissing && connecting == 0 ? earliest : nil }

    private var earliest: MonotonicTime { silent > 0 ? max(notBefore, substituteNotBefore) : notBefore }

    /// Whether a connection that was asked for is still missing.
    var isAwaiting: Bool { live < wanted }

    /// How many live connections are to be closed because they are not needed.
    var surplus: Int { isStopped ? 0 : max(0, live - wanted) }

    private var isMissing: Bool { !isStopped && !isSuspended && live + connecting < wanted }

    /// Whether a connect should begin now. If so, the connect counts as begun.
    ///
    /// Connects go one after the other, because the next one can avoid only the addresses of connects that are over.
    mutating func wantsConnect(now: MonotonicTime) -> Bool {
        guard isMissing, connecting == 0, now >= earliest else { return false }
        connecting += 1
        if silent > 0 { substituteNotBefore = now + timing.substituteInterval }
        notBefore = max(notBefore, now + timing.openInterval)
        return true
    }

    /// A connect succeeded.
    mutating func connected() {
        connecting -= 1
        live += 1
    }

    /// A connect that nobody wants any more is over.
    mutating func connectAbandoned() { connecting -= 1 }

    /// A connection that was opened beside the others is now one of them.
    mutating func joined() { live += 1 }

    /// A connect failed.
    mutating func connectFailed(now: MonotonicTime, random: inout some RandomNumberGenerator) {
        connecting -= 1
        substituteNotBefore = MonotonicTime(nanoseconds: 0)
        backOff(now: now, random: &random)
    }

    /// A connection answered its first request. Earlier failures are over.
    mutating func proved() { failures = 0 }

    /// A live connection gives no sign. Another one may take its place.
    mutating func fellSilent() {
        live -= 1
        silent += 1
    }

    /// A silent connection gave a sign. There may be more connections than wanted now.
    mutating func cameBack() {
        silent -= 1
        live += 1
    }

    /// A silent connection takes no more requests, or is gone.
    mutating func silentEnded() { silent -= 1 }

    /// A live connection takes no more requests, wants a replacement, or is gone.
    ///
    /// - Parameters:
    ///   - wasUseful: Whether it answered anything.
    ///   - age: How long it lived.
    ///   - now: The time.
    ///   - random: For the wait.
    mutating func lost(
        wasUseful: Bool, age: Duration, now: MonotonicTime, random: inout some RandomNumberGenerator
    ) {
        live -= 1
        // A connection that ended soon and without an answer must not be replaced at full speed.
        if !wasUseful, age < timing.probation { backOff(now: now, random: &random) }
    }

    /// The end of a turn.
    ///
    /// - Parameters:
    ///   - load: How busy the connections are.
    ///   - now: The time.
    mutating func turned(_ load: APNSPoolLoad, now: MonotonicTime) {
        watchSurplus(load, now: now)
        guard load.hasBacklog, load.limit == .streams || load.limit == .window else {
            if load.limit == .nothing { isServerSlow = false }
            full = nil
            limit = load.limit
            return
        }
        limit = isServerSlow && load.limit == .window ? .server : load.limit
        guard let began = full else {
            full = (now, load.submittedBytes)
            return
        }
        // Sums are faster than a product, and this runs in every turn of a full pool.
        let twoTrips = load.roundTrip + load.roundTrip
        guard now >= began.since + max(timing.growthDelay, twoTrips + twoTrips) else { return }
        isServerSlow = load.limit == .window && !fillsWindows(load, since: began, now: now)
        guard !isServerSlow else {
            full = (now, load.submittedBytes)
            limit = .server
            return
        }
        guard case .automatic(let maximum) = count, wanted < maximum, !isMissing, connecting == 0, !isStopped else {
            return
        }
        wanted += 1
        full = nil
    }

    /// Whether at least a quarter of the bytes that windows and round trips allow was submitted.
    ///
    /// A quarter is enough for two reasons. A peer may open its window only when half of it is used, which halves the
    /// throughput. The shortest round trip, which counts here, is shorter than most round trips.
    private func fillsWindows(
        _ load: APNSPoolLoad, since began: (since: MonotonicTime, submittedBytes: UInt64), now: MonotonicTime
    ) -> Bool {
        guard let ceiling = load.ceiling else { return true }
        let nanoseconds = Double(now.nanoseconds(since: began.since))
        return Double(load.submittedBytes - began.submittedBytes) * 4 >= ceiling * nanoseconds
    }

    /// Wants one connection less if fewer would have been enough for a long time.
    private mutating func watchSurplus(_ load: APNSPoolLoad, now: MonotonicTime) {
        let isFull = load.hasBacklog && load.limit != .nothing
        guard case .automatic = count, wanted > 1, live >= wanted, !isFull, load.neededConnections < wanted else {
            surplusDue = nil
            return
        }
        guard let due = surplusDue else {
            surplusDue = now + timing.quietDelay
            return
        }
        guard now >= due else { return }
        wanted -= 1
        surplusDue = nil
    }

    /// Opens nothing any more.
    mutating func stop() { isStopped = true }

    private mutating func backOff(now: MonotonicTime, random: inout some RandomNumberGenerator) {
        failures += 1
        let ceiling = min(timing.longestBackoff, timing.firstBackoff * (1 << min(failures - 1, 20)))
        notBefore = max(notBefore, now + .random(in: ceiling / 20...ceiling, using: &random))
    }
}
