/// Durations counted in fixed buckets: a plain value without a heap allocation, for the hot path.
package struct DurationHistogram: Sendable, Equatable {
    /// Which buckets there are.
    package enum Scale: Sendable, Equatable {
        /// One millisecond to thirty seconds: requests.
        case request
        /// Ten milliseconds to six hours: how long jobs wait.
        case wait

        /// The upper bounds, ascending, in microseconds; each scale has fifteen.
        var microseconds: [Int] {
            switch self {
            case .request: Self.requestBounds
            case .wait: Self.waitBounds
            }
        }

        private static let requestBounds = [
            1000, 2500, 5000, 10000, 25000, 50000, 75000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
            10_000_000, 30_000_000,
        ]
        private static let waitBounds = [
            10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 15_000_000, 60_000_000,
            300_000_000, 900_000_000, 1_800_000_000, 3_600_000_000, 21_600_000_000,
        ]
    }

    /// Which buckets there are.
    let scale: Scale
    /// The sum of all durations, in microseconds.
    private(set) var sumMicroseconds = 0
    /// How many durations were counted.
    private(set) var count = 0
    private var buckets = [16 of Int](repeating: 0)

    /// Makes an empty histogram.
    package init(_ scale: Scale) {
        self.scale = scale
    }

    /// Counts a duration. A negative one counts as zero: a clock was set meanwhile.
    ///
    /// - Parameter microseconds: The duration in microseconds.
    package mutating func record(microseconds: Int) {
        let value = max(0, microseconds)
        let bounds = scale.microseconds
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        buckets[bucket] += 1
        count += 1
        sumMicroseconds &+= value
    }

    /// How many durations fell into one bucket.
    subscript(bucket: Int) -> Int { buckets[bucket] }

    /// Whether two histograms of one scale counted as much in each bucket, and the same sum.
    package static func == (one: DurationHistogram, other: DurationHistogram) -> Bool {
        guard one.scale == other.scale, one.count == other.count, one.sumMicroseconds == other.sumMicroseconds else {
            return false
        }
        return (0..<16).allSatisfy { one.buckets[$0] == other.buckets[$0] }
    }

    /// Adds another histogram of the same scale.
    mutating func add(_ other: DurationHistogram) {
        precondition(other.scale == scale, "histograms of different scales cannot be added")
        for index in 0..<16 { buckets[index] += other.buckets[index] }
        count += other.count
        sumMicroseconds &+= other.sumMicroseconds
    }
}
