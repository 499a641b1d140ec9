/// Notices that this machine's clock and APNs' differ by so much that provider tokens are in danger. Pure.
///
/// APNs takes tokens that are up to an hour old; half a minute is what networks and coarse clocks explain.
struct ClockSkewWatch: Sendable {
    /// A difference in seconds that is reported.
    static let alarming: Int64 = 60
    /// A difference in seconds at which it is over.
    static let harmless: Int64 = 30

    /// Whether the clock was last reported as wrong.
    private(set) var isAlarmed = false

    /// A watch that has seen nothing.
    init() {}

    /// Learns a difference.
    ///
    /// - Parameter skew: seconds by which this clock is ahead.
    /// - Returns: true when the clock is to be reported as wrong, false as right again, nil for no news.
    mutating func learned(_ skew: Int64) -> Bool? {
        if !isAlarmed, skew.magnitude >= UInt64(Self.alarming) {
            isAlarmed = true
            return true
        }
        if isAlarmed, skew.magnitude <= UInt64(Self.harmless) {
            isAlarmed = false
            return false
        }
        return nil
    }
}
