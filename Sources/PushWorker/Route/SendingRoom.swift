import PushModel

/// How many requests may be submitted to a destination now, in all and for normal jobs.
///
/// A route that takes `high` jobs first keeps requests free of normal jobs: a share of those that its connections take
/// at once, and at least one. `high` requests that are open already count towards this share. Pure.
struct SendingRoom: Equatable {
    /// How many requests may be submitted, for jobs of any class.
    private(set) var total: Int
    /// How many of them may be of normal jobs.
    private(set) var normal: Int

    /// Room for any class.
    ///
    /// - Parameter total: How many requests may be submitted.
    init(_ total: Int) { (self.total, normal) = (total, total) }

    /// Room that is partly kept for `high` jobs.
    ///
    /// - Parameters:
    ///   - total: How many requests may be submitted.
    ///   - kept: How many of them are kept.
    ///   - isStill: Whether no request is open. One normal job may then go in any case. Otherwise no normal job would
    ///     ever go to a peer whose flow-control window stays small.
    init(_ total: Int, keeping kept: Int, isStill: Bool) {
        self.total = total
        normal = max(isStill ? min(1, total) : 0, total - kept)
    }

    /// How many free requests normal jobs have to leave.
    ///
    /// - Parameters:
    ///   - percent: The share that is kept.
    ///   - concurrency: How many requests the connections take at once. If they take only one, none is kept.
    ///   - highInFlight: How many `high` requests are open.
    static func kept(_ percent: Int, percentOf concurrency: Int, highInFlight: Int) -> Int {
        concurrency < 2 ? 0 : max(0, max(1, concurrency * percent / 100) - highInFlight)
    }

    /// Allows no more than some number of requests.
    mutating func limit(to most: Int) {
        total = min(total, most)
        normal = min(normal, most)
    }

    /// Only `high` jobs may go.
    mutating func keepNormalOut() { normal = 0 }

    /// A request was submitted.
    mutating func take(_ jobClass: JobClass) {
        total -= 1
        if jobClass == .normal { normal -= 1 }
    }
}
