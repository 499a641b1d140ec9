/// How busy a pool is at the end of a turn. Its size is decided from this.
struct APNSPoolLoad: Sendable, Equatable {
    /// The limit that keeps requests from being submitted now.
    var limit = APNSPoolLimit.nothing
    /// Whether something waits to be submitted.
    var hasBacklog = false
    /// Requests without an answer.
    var inFlight = 0
    /// How many requests one connection takes at once: as many as its streams, and as many payloads as fit its window.
    var perConnection = 1
    /// Bytes of payload submitted since the pool began.
    var submittedBytes: UInt64 = 0
    /// Bytes per nanosecond that windows and round trips allow on all connections; nil while one is not measured.
    var ceiling: Double?
    /// The longest of the connections' round trips; zero while none is measured.
    var roundTrip = Duration.zero

    /// How many connections carry this load without being full. Each should be three quarters full at most.
    var neededConnections: Int {
        let room = max(1, perConnection) * 3
        return max(1, (inFlight * 4 + room - 1) / room)
    }
}
