/// Notices that this machine's clock and APNs' differ by so much that provider tokens are in danger. Pure.
///
/// APNs takes tokens that are up to an hour old. Networks and coarse clocks explain a difference of up to half a
/// minute.
struct ClockSkewWatch: Sendable {
    /// The least difference that is reported, in seconds.
    static let alarming: Int64 = 60
    /// The largest difference at which the clock counts as right again, in seconds.
    static let harmless: Int64 = 30

    /// Whether the clock was last reported as wrong.
    private(set) var isAlarmed = false

    /// A watch that has seen nothing.
    init() {}

    /// Learns a difference.
    ///
    /// - Parameter skew: Seconds by which this clock is ahead.
    /// - Returns: True to report the clock as wrong, false to report it as right again, nil for no news.
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
