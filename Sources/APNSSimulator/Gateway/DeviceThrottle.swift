import Text

/// How many pushes each device token got lately.
struct DeviceThrottle {
    /// How many devices are remembered. When one more comes, all counts are forgotten.
    static let deviceLimit = 1_000_000

    private var counts: [UInt64: (start: Int64, count: Int)] = [:]

    /// Starts with no device known.
    init() {}

    /// Counts a push.
    ///
    /// - Parameters:
    ///   - token: The device token's digits.
    ///   - now: Milliseconds since 1970.
    ///   - rate: How many pushes a device may get in which span of time.
    /// - Returns: Whether the push is within the rate.
    mutating func admits(_ token: [UInt8], now: Int64, rate: GatewayLimits.Rate) -> Bool {
        let device = StableHash.of(token.span)
        if counts.count >= Self.deviceLimit, counts[device] == nil { counts.removeAll() }
        var (start, count) = counts[device] ?? (now, 0)
        if now - start >= rate.period || now < start { (start, count) = (now, 0) }
        count += 1
        counts[device] = (start, count)
        return count <= rate.pushes
    }
}
