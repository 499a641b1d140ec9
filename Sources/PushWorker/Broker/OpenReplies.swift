/// Replies without a fate, and what the broker has said about replies on this connection.
struct OpenReplies {
    /// Whether replies may go to the default exchange, as far as the broker has said on this connection.
    private(set) var mayWriteToQueues = true
    /// Whether a reply was abandoned. The broker may still return it.
    private(set) var hasAbandoned = false
    /// How many replies of each route have no fate yet, by the route's position.
    private var counts: [Int: Int] = [:]

    /// Whether a reply of a route has no fate yet.
    func has(of route: Int) -> Bool { counts[route] != nil }

    /// A route has another reply.
    mutating func began(of route: Int) { counts[route, default: 0] += 1 }

    /// A reply of a route has met its fate.
    mutating func ended(of route: Int) { counts[route] = counts[route].flatMap { $0 == 1 ? nil : $0 - 1 } }

    /// Replies are no longer waited for.
    mutating func abandoned() { hasAbandoned = true }

    /// The broker closed the channel for replies.
    ///
    /// - Parameters:
    ///   - code: The broker's code.
    ///   - text: The broker's words.
    /// - Returns: Whether the broker forbids replies straight to queues, and closed the channel over one of them.
    mutating func channelClosed(code: UInt16, text: String) -> Bool {
        guard code == 403, text.contains("amq.default") else { return false }
        mayWriteToQueues = false
        return true
    }

    /// There is another connection, on which the broker has said nothing yet.
    mutating func connectionOpened() { mayWriteToQueues = true }

    /// The connection is gone. Nothing comes back on another one.
    mutating func connectionLost() { hasAbandoned = false }
}
