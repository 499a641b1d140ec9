/// How many connections each address opened lately. An address that opens too many is not served until its span of
/// time is over.
struct ConnectionGate {
    /// How many addresses are remembered. When one more comes, all counts are forgotten.
    static let addressLimit = 4096
    /// The span of time in which connections are counted, in milliseconds. It begins with an address's first
    /// connection.
    static let window: Int64 = 60_000

    private var counts: [String: (start: Int64, count: Int)] = [:]

    /// Starts with no address known.
    init() {}

    /// Counts a new connection.
    ///
    /// - Parameters:
    ///   - address: The client's address.
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
