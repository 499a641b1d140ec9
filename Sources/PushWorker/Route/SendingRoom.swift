import PushModel

/// How many requests may be submitted to a destination now, in all and for normal jobs.
///
/// A route that takes `high` jobs first keeps a quarter of what its connections take at once free of normal ones, at
/// least one request. `high` requests that are open already count towards this quarter. Pure.
struct SendingRoom: Equatable {
    /// The part that is kept: one in so many.
    static let part = 4

    /// How many requests may be submitted, whatever their class.
    private(set) var total: Int
    /// How many of them may be of normal jobs.
    private(set) var normal: Int

    /// Room for any class.
    ///
    /// - Parameter total: How many requests may be submitted.
    init(_ total: Int) { (self.total, normal) = (total, total) }

    /// Room of which some is kept for `high` jobs.
    ///
    /// - Parameters:
    ///   - total: How many requests may be submitted.
    ///   - kept: How many of them are kept.
    ///   - isStill: Whether no request is open. Then one normal job may go in any case. A peer whose flow-control
    ///     window stays small would get none of them otherwise.
    init(_ total: Int, keeping kept: Int, isStill: Bool) {
        self.total = total
        normal = max(isStill ? min(1, total) : 0, total - kept)
    }

    /// How many free requests normal jobs have to leave.
    ///
    /// - Parameters:
    ///   - concurrency: How many requests the connections take at once. Of a single one nothing is kept.
    ///   - highInFlight: How many `high` requests are open.
    static func kept(of concurrency: Int, highInFlight: Int) -> Int {
        concurrency < 2 ? 0 : max(0, max(1, concurrency / part) - highInFlight)
    }

    /// No more than some requests may be submitted.
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
