import EventLoop

/// The demand on a pool: how many bytes, the usual length of a payload, and whether something waits.
struct PoolDemand {
    /// The weight of the moving average of lengths, in payloads: the newest payload counts as a 16th.
    private static let memory = 16

    /// `memory` times the usual length of a payload, in bytes.
    private var usualSum = 512 * memory
    /// Bytes of payload submitted so far.
    private var submittedBytes: UInt64 = 0
    /// Whether a payload did not fit since the last flush. A payload of usual length might have fitted.
    private var wasRefused = false
    /// Whether something waited to be submitted at the last flush.
    var hasBacklog = false
    /// How many requests of the capacity the waiting notifications may not use.
    var kept = 0

    /// The usual length of a payload in bytes, as a moving average.
    var usualBytes: Int { usualSum / Self.memory }

    /// A payload of this length is to be submitted.
    mutating func asked(bytes: Int) { usualSum += bytes - usualSum / Self.memory }

    /// A payload was submitted.
    mutating func submitted(bytes: Int) { submittedBytes &+= UInt64(bytes) }

    /// No connection took a payload.
    mutating func refused() { wasRefused = true }

    /// The turn is over.
    mutating func turnEnded() { wasRefused = false }

    /// How busy connections are with this demand.
    ///
    /// - Parameter connections: The connections.
    /// - Returns: Their load, from which their number is decided.
    func load(on connections: PooledConnections) -> APNSPoolLoad {
        let usual = usualBytes
        var load = APNSPoolLoad(limit: .server, hasBacklog: hasBacklog, submittedBytes: submittedBytes)
        var admitting = 0
        var concurrency = 0
        var ceiling: Double? = 0
        for connection in connections.all {
            load.inFlight += connection.machine.openStreams
            guard let limit = connection.limit(usualBytes: usual) else { continue }
            load.limit = admitting == 0 ? limit : .loosest(load.limit, limit)
            admitting += 1
            concurrency += connection.concurrency(usualBytes: usual)
            load.roundTrip = max(load.roundTrip, connection.roundTrip ?? .zero)
            ceiling = connection.roundTrip.flatMap { trip in
                ceiling.map { $0 + Double(connection.windowSize) / Double(trip.clampedNanoseconds) }
            }
        }
        if wasRefused, load.limit == .nothing { load.limit = .window }
        if kept > 0, load.limit == .nothing, connections.capacity(usualBytes: usual) <= kept {
            load.limit = connections.streamLimit - connections.openStreams <= kept ? .streams : .window
        }
        load.perConnection = max(1, concurrency / max(1, admitting))
        load.ceiling = ceiling
        return load
    }
}
