/// How busy a pool is at the end of a turn. The size of the pool is decided from its load.
struct APNSPoolLoad: Sendable, Equatable {
    /// The limit that keeps requests from being submitted now.
    var limit = APNSPoolLimit.nothing
    /// Whether something waits to be submitted.
    var hasBacklog = false
    /// Requests without an answer.
    var inFlight = 0
    /// How many requests a connection takes at once on average. Each takes no more than its streams, and no more than
    /// the payloads that fit its window.
    var perConnection = 1
    /// Bytes of payload submitted since the pool began.
    var submittedBytes: UInt64 = 0
    /// Bytes per nanosecond that windows and round trips allow on all connections together; nil while the round trip of
    /// a connection is not measured.
    var ceiling: Double?
    /// The longest of the connections' round trips; zero while no round trip is measured.
    var roundTrip = Duration.zero

    /// How many connections carry this load if each is three quarters full at most.
    var neededConnections: Int {
        let room = max(1, perConnection) * 3
        return max(1, (inFlight * 4 + room - 1) / room)
    }
}
