import EventLoop

/// The jobs that a channel's present generation settled last. Their acknowledgements may get lost with the channel.
struct RecentSettlements<Key: Hashable> {
    /// How many settled jobs are remembered. A broker redelivers only unacknowledged deliveries. Two queues with the
    /// largest prefetch that the worker chooses by itself have fewer of them: 4,000. A larger configured prefetch, or a
    /// third queue, may have more.
    static var capacity: Int { 4_096 }
    /// How long a settled job is remembered. Only time with a channel counts.
    static var lifetime: Duration { .seconds(300) }

    /// A job whose acknowledgement is on its way.
    struct Settlement {
        /// The key by which it is recognised.
        var key: Key
        /// When it was settled.
        var at: MonotonicTime
        /// Where its delivery stands among all deliveries of its message.
        var origin = DeliveryOrigin()
    }

    /// A ring that starts to overwrite when it is full.
    private var recent: [Settlement] = []
    private var next = 0

    /// Starts with nothing to remember.
    init() {}

    /// A job is settled, and its acknowledgement is on its way.
    mutating func note(_ key: Key, as origin: DeliveryOrigin = DeliveryOrigin(), now: MonotonicTime) {
        let one = Settlement(key: key, at: now, origin: origin)
        if recent.count < Self.capacity {
            recent.append(one)
        } else {
            recent[next] = one
            next = (next + 1) % Self.capacity
        }
    }

    /// Whether a job was settled already, so that the copy at hand is a second one. Looks at all remembered jobs. The
    /// question is rare, because it is asked only about copies that the broker may have twice.
    func contains(_ key: Key, now: MonotonicTime) -> Bool {
        recent.contains { $0.key == key && now - $0.at < Self.lifetime }
    }

    /// Takes out all remembered jobs, oldest first.
    mutating func takeAll() -> [Settlement] {
        let all = Array(recent[next...] + recent[..<next])
        self = Self()
        return all
    }
}
