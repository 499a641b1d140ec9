import EventLoop

/// Replies without a fate, and what the broker has said about replies on this connection.
///
/// A producer decides how long the broker takes for a reply: it may bind any number of queues and exchanges to the key.
/// Replies that were abandoned may still lie on their channel, before those that follow. So a route whose replies were
/// abandoned has none for `firstRest`, and for twice as long each time that it happens again soon.
struct OpenReplies {
    /// How long a route whose replies were abandoned has none, at first.
    static let firstRest = Duration.seconds(60)
    /// The longest such time.
    static let longestRest = Duration.seconds(3_600)

    private struct Rest {
        var end: MonotonicTime
        var length: Duration
    }

    /// The routes that have no replies, by position; also those whose rest is over.
    private var rests: [Int: Rest] = [:]
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

    /// A reply of a route is no longer waited for.
    mutating func abandoned(of route: Int, now: MonotonicTime) {
        hasAbandoned = true
        var length = Self.firstRest
        if let rest = rests[route] {
            guard now >= rest.end else { return }
            if now < rest.end + rest.length { length = min(Self.longestRest, rest.length * 2) }
        }
        rests[route] = Rest(end: now + length, length: length)
    }

    /// Whether a route has no replies now.
    func rests(_ route: Int, now: MonotonicTime) -> Bool { rests[route].map { now < $0.end } ?? false }

    /// Whether any route may have none.
    var mayRest: Bool { !rests.isEmpty }

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
