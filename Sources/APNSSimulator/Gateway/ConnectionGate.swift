/// How many connections each address opened lately: who opens too many is not served for a while.
struct ConnectionGate {
    /// How many addresses are remembered; beyond it all start again.
    static let addressLimit = 4096
    /// The span of time that is looked at, in milliseconds.
    static let window: Int64 = 60_000

    private var counts: [String: (start: Int64, count: Int)] = [:]

    /// Starts with nobody known.
    init() {}

    /// Counts a new connection.
    ///
    /// - Parameters:
    ///   - address: Who opened it.
    ///   - now: Milliseconds since 1970.
    ///   - limit: How many an address may open in the span of time; 0 for any number.
    /// - Returns: Whether it is served.
    mutating func admits(_ address: String, now: Int64, limit: Int) -> Bool {
        guard limit > 0 else { return true }
        if counts.count >= Self.addressLimit, counts[address] == nil { counts.removeAll() }
        var (start, count) = counts[address] ?? (now, 0)
        if now - start >= Self.window || now < start { (start, count) = (now, 0) }
        count += 1
        counts[address] = (start, count)
        return count <= limit
    }
}
