import EventLoop

/// Both directions of a connection whose client is far away.
final class Distance {
    /// The bytes that come from the client.
    var inbound = DelayLine()
    /// The bytes that go to the client.
    var outbound = DelayLine()
    /// The bytes that have come all the way to the client and wait for its socket.
    var arrived: [UInt8] = []
    /// When the connection looks at both directions again; nil where no such look is scheduled.
    var wakeUp: MonotonicTime?

    private let halfway: UInt64

    /// Starts with nothing on its way.
    ///
    /// - Parameter roundTrip: How long bytes take to the client and back, in milliseconds.
    init(roundTrip: Int) { halfway = UInt64(roundTrip) * 500_000 }

    /// When bytes arrive that are sent now.
    var due: MonotonicTime { MonotonicTime.now().adding(nanoseconds: halfway) }

    /// Whether nothing is on its way to the client.
    var isEmpty: Bool { outbound.count == 0 && arrived.isEmpty }
}
