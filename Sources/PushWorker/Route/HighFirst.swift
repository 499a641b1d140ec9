import PushModel

/// Decides which class of jobs the next request belongs to, where a route takes `high` jobs first.
///
/// A `high` notification goes before all normal ones. But normal ones get one request in four while both wait: a job
/// that waits here for 30 minutes exceeds the broker's limit for a consumer (`consumer_timeout`). The broker would then
/// deliver the `high` jobs again, too. Pure.
struct HighFirst {
    /// How many `high` notifications may go past a normal one that could have gone. Then the normal one goes.
    static let inARow = 3
    /// The share of the route's requests that normal jobs get in any case.
    static let normalShare = 1 / Double(inARow + 1)

    /// How many `high` notifications in a row went past a waiting normal one.
    private var passed = 0

    /// The class of the next request; nil where nothing may go.
    ///
    /// - Parameters:
    ///   - high: Whether a `high` notification waits and may go.
    ///   - normal: Whether a normal one waits and may go.
    func next(high: Bool, normal: Bool) -> JobClass? {
        guard high, normal else { return high ? .high : normal ? .normal : nil }
        return passed < Self.inARow ? .high : .normal
    }

    /// A request was submitted.
    ///
    /// - Parameters:
    ///   - jobClass: Its class.
    ///   - normal: Whether a normal one waited and could have gone.
    mutating func sent(_ jobClass: JobClass, normal: Bool) {
        if jobClass == .normal || !normal { passed = 0 } else { passed = Swift.min(passed + 1, Self.inARow) }
    }
}
