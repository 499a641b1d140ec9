/// Measures how many of something there are per second, over the last second: pure.
struct RateMeter {
    private var samples: [(time: Int64, count: Int)] = []

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - count: How many there are so far.
    ///   - time: The present in milliseconds.
    /// - Returns: How many came per second.
    mutating func measure(_ count: Int, at time: Int64) -> Int {
        samples.append((time, count))
        // One sample older than a second stays, to measure from.
        while samples.count > 2, samples[1].time <= time - 1_000 { samples.removeFirst() }
        let first = samples[0]
        return time > first.time ? (count - first.count) * 1_000 / Int(time - first.time) : 0
    }
}
