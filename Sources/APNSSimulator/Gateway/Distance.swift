import EventLoop

/// Both directions of a connection whose client is far away.
final class Distance {
    /// What comes from the client.
    var inbound = DelayLine()
    /// What goes to the client.
    var outbound = DelayLine()
    /// What has come all the way to the client and waits for its socket.
    var arrived: [UInt8] = []
    /// When the connection looks at both again; nil where nothing is on its way.
    var wakeUp: MonotonicTime?

    private let halfway: UInt64

    /// Starts with nothing on its way.
    ///
    /// - Parameter roundTrip: How long bytes take to the client and back, in milliseconds.
    init(roundTrip: Int) { halfway = UInt64(roundTrip) * 500_000 }

    /// When bytes arrive that set out now.
    var due: MonotonicTime { MonotonicTime.now().adding(nanoseconds: halfway) }

    /// Whether nothing is on its way to the client.
    var isEmpty: Bool { outbound.count == 0 && arrived.isEmpty }
}
