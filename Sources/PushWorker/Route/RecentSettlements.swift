import EventLoop

/// The jobs that a channel's present generation settled last: their acknowledgements may get lost with the channel.
struct RecentSettlements<Key: Hashable> {
    /// How many settled jobs are remembered. Two queues with the largest prefetch have fewer unacknowledged deliveries,
    /// and a broker redelivers no others.
    static var capacity: Int { 4_096 }
    /// For how long a settled job is remembered; only time with a channel counts.
    static var lifetime: Duration { .seconds(300) }

    /// A job whose acknowledgement is on its way.
    struct Settlement {
        /// What it is recognised by.
        var key: Key
        /// When it was settled.
        var at: MonotonicTime
        /// Its delivery.
        var origin = DeliveryOrigin()
    }

    /// A ring that starts to overwrite when it is full.
    private var recent: [Settlement] = []
    private var next = 0

    /// Starts with nothing to remember.
    init() {}

    /// A job is settled, and its acknowledgement on its way.
    mutating func note(_ key: Key, as origin: DeliveryOrigin = DeliveryOrigin(), now: MonotonicTime) {
        let one = Settlement(key: key, at: now, origin: origin)
        if recent.count < Self.capacity {
            recent.append(one)
        } else {
            recent[next] = one
            next = (next + 1) % Self.capacity
        }
    }

    /// Whether a job was settled already, so that this copy is a second one. Looks at all jobs, because copies that the
    /// broker may have twice are rare.
    func contains(_ key: Key, now: MonotonicTime) -> Bool {
        recent.contains { $0.key == key && now - $0.at < Self.lifetime }
    }

    /// The keys of all remembered jobs.
    func keys(now: MonotonicTime) -> [Key] {
        recent.compactMap { now - $0.at < Self.lifetime ? $0.key : nil }
    }

    /// Takes out all remembered jobs, oldest first.
    mutating func takeAll() -> [Settlement] {
        let all = Array(recent[next...] + recent[..<next])
        self = Self()
        return all
    }
}
