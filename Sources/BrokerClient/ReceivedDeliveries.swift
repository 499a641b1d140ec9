import RabbitMQ

/// Deliveries that a blocking client received and its caller has not taken yet, oldest first.
///
/// A caller takes one before more are read. So they become many only while the client waits for an answer of the broker,
/// which comes behind all deliveries that are under way.
struct ReceivedDeliveries {
    /// The most bytes that are kept, in messages of any size; one message is kept in any case. Further ones are
    /// dropped. They stay unsettled, so the broker takes them back when the connection ends.
    static let mostBytes = 64 << 20

    /// Whether all that come are dropped, because the consumers are being cancelled.
    var isClosed = false
    /// Whether a delivery was dropped that a caller may wait for.
    private(set) var hasOverflowed = false
    private var kept: [Delivery?] = []
    /// The position of the oldest in `kept`.
    private var first = 0
    private var bytes = 0

    /// Whether there is none.
    var isEmpty: Bool { first == kept.count }

    /// Adds the newest.
    mutating func append(_ delivery: consuming Delivery) {
        if isClosed { return }
        let size = delivery.bytes.count
        guard isEmpty || bytes + size <= Self.mostBytes else {
            hasOverflowed = true
            return
        }
        bytes += size
        kept.append(delivery)
    }

    /// Takes the oldest.
    mutating func takeFirst() -> Delivery? {
        guard first < kept.count, let delivery = kept[first] else { return nil }
        kept[first] = nil
        first += 1
        bytes -= delivery.bytes.count
        // Each delivery is moved once on average, however many there are.
        if first == kept.count || first > 1_000 && first > kept.count / 2 {
            kept.removeFirst(first)
            first = 0
        }
        return delivery
    }

    /// Takes the newest.
    mutating func takeLast() -> Delivery? {
        guard !isEmpty, let last = kept.popLast(), let delivery = last else { return nil }
        bytes -= delivery.bytes.count
        return delivery
    }
}
