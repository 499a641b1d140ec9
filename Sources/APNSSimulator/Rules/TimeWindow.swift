/// When a rule holds, counted from the beginning of the scenario.
package struct TimeWindow: Hashable, Sendable {
    /// Where it begins, in milliseconds.
    package var from: Int64
    /// Where it ends, in milliseconds; nil for never.
    package var until: Int64?
    /// The time after which the window repeats, in milliseconds; nil for no repetition. ``from`` and ``until`` then
    /// count from the beginning of each repetition.
    package var every: Int64?

    /// Describes a window.
    ///
    /// - Parameters:
    ///   - from: Where it begins, in milliseconds.
    ///   - until: Where it ends, in milliseconds.
    ///   - every: The time after which the window repeats, in milliseconds.
    package init(from: Int64 = 0, until: Int64? = nil, every: Int64? = nil) {
        self.from = from
        self.until = until
        self.every = every
    }

    /// Tells whether a moment lies in the window.
    ///
    /// - Parameter elapsed: Milliseconds since the scenario began.
    /// - Returns: Whether the rule holds.
    func contains(_ elapsed: Int64) -> Bool {
        var moment = elapsed
        if let every, every > 0 { moment %= every }
        return moment >= from && until.map { moment < $0 } ?? true
    }
}
