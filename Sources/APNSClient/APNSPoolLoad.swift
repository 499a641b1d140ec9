/// The limit that keeps a pool from taking more requests.
package enum APNSPoolLimit: Sendable, Equatable {
    /// Nothing: there is room.
    case nothing
    /// Every stream that APNs allows is open.
    case streams
    /// The flow-control windows are full: 65,535 bytes per round trip and connection (RFC 9113, section 6.9.2).
    case window
    /// APNs: there is no connection, it allows fewer streams than before, or it reads more slowly than the windows
    /// allow.
    case server
}

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

extension APNSPoolLimit {
    /// The limit of two connections together: none if one of them has room, else the server, then the window, then the
    /// streams. The server must change first, and a full window empties sooner than streams that are all open.
    ///
    /// - Parameters:
    ///   - one: The limit of one of them.
    ///   - other: The limit of the other.
    /// - Returns: The limit of both together.
    static func loosest(_ one: APNSPoolLimit, _ other: APNSPoolLimit) -> APNSPoolLimit {
        if one == .nothing || other == .nothing { return .nothing }
        if one == .server || other == .server { return .server }
        return one == .window || other == .window ? .window : .streams
    }
}
