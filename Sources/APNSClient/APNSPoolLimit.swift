/// What keeps a pool from taking more requests.
package enum APNSPoolLimit: Sendable, Equatable {
    /// Nothing: there is room.
    case nothing
    /// Every stream that APNs allows is open.
    case streams
    /// The flow-control windows are full: 65,535 bytes per round trip and connection (RFC 9113, section 6.9.2).
    case window
    /// APNs: there is no connection, it allows fewer streams than before, or it reads more slowly than the windows allow.
    case server
}

extension APNSPoolLimit {
    /// What holds two connections back together: room on one is room; while APNs holds one of them back, that is what
    /// must change first; a full window empties sooner than streams that are all open.
    ///
    /// - Parameters:
    ///   - one: what holds one of them back.
    ///   - other: what holds the other one back.
    /// - Returns: what holds both of them back.
    static func loosest(_ one: APNSPoolLimit, _ other: APNSPoolLimit) -> APNSPoolLimit {
        if one == .nothing || other == .nothing { return .nothing }
        if one == .server || other == .server { return .server }
        return one == .window || other == .window ? .window : .streams
    }
}
