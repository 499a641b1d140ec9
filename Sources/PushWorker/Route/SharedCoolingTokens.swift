import EventLoop
import Synchronization

/// The resting tokens of a route on all its lanes. Safe on any thread; while no token rests, no lock is taken.
final class SharedCoolingTokens: Sendable {
    private let tokens = Mutex(CoolingTokens())
    /// When everything may be forgotten, in nanoseconds; the largest number while no token rests.
    private let due = Atomic<UInt64>(.max)

    /// Starts with nothing to remember.
    init() {}

    /// Whether no token is remembered, so that none needs to be looked up.
    var isEmpty: Bool { due.load(ordering: .relaxed) == .max }

    /// When `forgetIfDue(now:)` has something to do; nil while no token rests.
    var nextDue: MonotonicTime? {
        let due = due.load(ordering: .relaxed)
        return due == .max ? nil : MonotonicTime(nanoseconds: due)
    }

    /// APNs has had too many notifications for a token; see `CoolingTokens`.
    func cool(_ key: Int, until end: MonotonicTime, now: MonotonicTime) {
        with { $0.cool(key, until: end, now: now) }
    }

    /// How long nothing is to be sent to a token; nil when notifications may be sent.
    func remaining(_ key: Int, now: MonotonicTime) -> Duration? {
        isEmpty ? nil : with { $0.remaining(key, now: now) }
    }

    /// How many tokens wait at a moment; looks at all of them.
    func count(at now: MonotonicTime) -> Int { isEmpty ? 0 : with { $0.count(at: now) } }

    /// Forgets everything once the last token's time is over.
    func forgetIfDue(now: MonotonicTime) {
        guard let nextDue, now >= nextDue else { return }
        with { $0.forgetIfDue(now: now) }
    }

    private func with<Result>(_ use: (inout CoolingTokens) -> Result) -> Result {
        tokens.withLock { tokens in
            let result = use(&tokens)
            due.store(tokens.nextDue?.nanoseconds ?? .max, ordering: .relaxed)
            return result
        }
    }
}
