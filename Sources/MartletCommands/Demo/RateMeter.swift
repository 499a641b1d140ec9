/// Measures by how much a counter grows per second, over about the last second: pure.
struct RateMeter {
    private var samples: [(time: Int64, count: Int)] = []

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - count: The counter now.
    ///   - time: The present in milliseconds.
    /// - Returns: The growth per second.
    mutating func measure(_ count: Int, at time: Int64) -> Int {
        samples.append((time, count))
        // One sample older than a second stays, to measure from.
        while samples.count > 2, samples[1].time <= time - 1_000 { samples.removeFirst() }
        let first = samples[0]
        return time > first.time ? (count - first.count) * 1_000 / Int(time - first.time) : 0
    }
}
