/// How many connections a pool keeps.
package enum APNSConnectionCount: Sendable, Equatable {
    /// Always this many.
    case fixed(Int)
    /// One, and more while all are saturated, up to this many.
    case automatic(maximum: Int)
}

/// Decides how many connections a pool has and when it asks for one. Pure: times and randomness come in.
///
/// Apple wants few connections that live long, opened one after the other; a replacement is opened before the old one
/// is drained; failures are followed by waits that grow to 30 seconds, drawn at random (full jitter).
struct APNSPoolStateMachine: Sendable {
    /// Times in nanoseconds.
    struct Timing: Sendable {
        /// The least time between two connects while nothing failed.
        var openInterval: UInt64 = 500_000_000
        /// How long all connections must be saturated before another is opened.
        var growthDelay: UInt64 = 200_000_000
        /// The wait after the first failure, which doubles with each.
        var firstBackoff: UInt64 = 200_000_000
        /// The longest wait.
        var longestBackoff: UInt64 = 30_000_000_000
        /// How long a connection that answered nothing must have lived not to count as a failure.
        var probation: UInt64 = 60_000_000_000
    }

    private let count: APNSConnectionCount
    private let timing: Timing
    /// Connections that take requests and need no replacement.
    private(set) var live = 0
    /// Connects under way.
    private(set) var connecting = 0
    /// Failures since the last connection that answered something.
    private(set) var failures = 0
    /// How many connections there shall be.
    private(set) var wanted: Int
    /// Whether nothing is opened any more.
    private(set) var isStopped = false
    /// Whether nothing is opened for the time being.
    var isSuspended = false
    /// When the next connect may begin.
    private var notBefore: UInt64 = 0
    private var saturatedSince: UInt64?

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

    /// When `wantsConnect` may say yes only because time passed; nil when something else must happen first.
    var nextDue: UInt64? { isMissing ? notBefore : nil }

    private var isMissing: Bool { !isStopped && !isSuspended && live + connecting < wanted }

    /// Whether a connect shall begin now; if so, it has begun.
    mutating func wantsConnect(now: UInt64) -> Bool {
        guard isMissing, now >= notBefore else { return false }
        connecting += 1
        notBefore = max(notBefore, now + timing.openInterval)
        return true
    }

    /// A connect succeeded.
    mutating func connected() {
        connecting -= 1
        live += 1
    }

    /// A connect succeeded or failed that nobody wants any more.
    mutating func connectAbandoned() { connecting -= 1 }

    /// A connection that was opened beside the others is one of them now.
    mutating func joined() { live += 1 }

    /// A connect failed.
    mutating func connectFailed(now: UInt64, random: inout some RandomNumberGenerator) {
        connecting -= 1
        backOff(now: now, random: &random)
    }

    /// A connection answered its first request: whatever failed before is over.
    mutating func proved() { failures = 0 }

    /// A live connection takes no more requests, wants a replacement, or is gone.
    ///
    /// - Parameters:
    ///   - wasUseful: whether it answered anything.
    ///   - age: how long it lived, in nanoseconds.
    ///   - now: the time.
    ///   - random: for the wait.
    mutating func lost(
        wasUseful: Bool, age: UInt64, now: UInt64, random: inout some RandomNumberGenerator
    ) {
        live -= 1
        // One that came and went without an answer must not be replaced at full speed.
        if !wasUseful, age < timing.probation { backOff(now: now, random: &random) }
    }

    /// The end of a turn: whether every connection was full.
    ///
    /// - Parameters:
    ///   - isSaturated: whether nothing more can be submitted although all connections are open and unthrottled.
    ///   - now: the time.
    mutating func turned(isSaturated: Bool, now: UInt64) {
        guard case .automatic(let maximum) = count, isSaturated else {
            saturatedSince = nil
            return
        }
        guard let since = saturatedSince else {
            saturatedSince = now
            return
        }
        guard now >= since + timing.growthDelay, wanted < maximum, !isMissing, connecting == 0 else { return }
        wanted += 1
        saturatedSince = nil
    }

    /// Opens nothing any more.
    mutating func stop() { isStopped = true }

    private mutating func backOff(now: UInt64, random: inout some RandomNumberGenerator) {
        failures += 1
        let ceiling = min(timing.longestBackoff, timing.firstBackoff << UInt64(min(failures - 1, 20)))
        notBefore = max(notBefore, now + UInt64.random(in: ceiling / 20...ceiling, using: &random))
    }
}
