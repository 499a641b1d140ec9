/// The limit that keeps a pool from taking more requests.
package enum APNSPoolLimit: Sendable, Equatable {
    /// Nothing: there is room.
    case nothing
    /// Every stream that APNs allows is open.
    case streams
    /// The flow-control windows are full. Unless APNs enlarges it, a window allows 65,535 bytes per round trip and
    /// connection (RFC 9113, section 6.9.2).
    case window
    /// APNs itself is the limit: there is no connection, a connection is not fully open yet, APNs allows less than half
    /// of the most streams that it allowed before, or APNs reads more slowly than the windows allow.
    case server
}

extension APNSPoolLimit {
    /// The limit of two connections together: none if one of them has room, else the server, then the window, then the
    /// streams.
    ///
    /// The server comes before the others, because the server must change first. The window comes before the streams,
    /// because a full window empties sooner than streams that are all open.
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
