import EventLoop

/// The device tokens for which APNs has had too many notifications (429 `TooManyRequests`), each until its time is
/// over.
///
/// Only a hash of each token is kept. The hash is seeded anew in every process.
///
/// A class, because the look before a push and the settlement after it share it. Confined to its lane. Time comes in.
final class CoolingTokens {
    /// The most tokens that are remembered. A further token is not remembered: its notifications go out, and APNs
    /// answers them as before.
    static var capacity: Int { 4_096 }

    private var ends: [Int: MonotonicTime] = [:]
    /// When the last token's time is over.
    private var latestEnd = MonotonicTime(nanoseconds: 0)
    /// When the first place becomes free in a memory that is full.
    private var fullUntil = MonotonicTime(nanoseconds: 0)

    /// Starts with nothing to remember.
    init() {}

    /// How many tokens are remembered, including tokens whose time may be over.
    var count: Int { ends.count }

    /// Whether no token is remembered, so that none needs to be looked up.
    var isEmpty: Bool { ends.isEmpty }

    /// The hash of a token. A hexadecimal digit counts the same in upper and in lower case.
    static func key(_ token: Span<UInt8>) -> Int {
        var hasher = Hasher()
        for index in 0..<token.count { hasher.combine(token[index] | 0x20) }
        return hasher.finalize()
    }

    /// Notes that APNs has had too many notifications for a token.
    ///
    /// - Parameters:
    ///   - key: The token's key.
    ///   - end: Until when nothing is sent to the token; the latest of several times counts.
    ///   - now: The time.
    func cool(_ key: Int, until end: MonotonicTime, now: MonotonicTime) {
        if ends[key] == nil, ends.count >= Self.capacity {
            // A look through all tokens for every further token would slow the lane down.
            guard now >= fullUntil else { return }
            ends = ends.filter { $0.value > now }
            guard ends.count < Self.capacity else {
                fullUntil = ends.values.min() ?? now
                return
            }
        }
        ends[key] = max(ends[key] ?? end, end)
        latestEnd = max(latestEnd, end)
    }

    /// How long nothing is to be sent to a token; nil if a notification may be sent now.
    func remaining(_ key: Int, now: MonotonicTime) -> Duration? {
        forgetIfDue(now: now)
        guard let end = ends[key] else { return nil }
        guard end > now else {
            ends[key] = nil
            return nil
        }
        return end - now
    }

    /// How many tokens rest at a moment. Looks at all tokens.
    func count(at now: MonotonicTime) -> Int { ends.values.count { $0 > now } }

    /// When `forgetIfDue(now:)` has something to do; nil while no token rests.
    var nextDue: MonotonicTime? { ends.isEmpty ? nil : latestEnd }

    /// Forgets everything once the last token's time is over.
    func forgetIfDue(now: MonotonicTime) {
        if !ends.isEmpty, now >= latestEnd { ends.removeAll() }
    }
}
