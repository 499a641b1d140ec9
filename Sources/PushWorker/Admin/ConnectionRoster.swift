import NIOCore
import NIOHTTPTypes

/// The open connections of the admin server, in the order in which they have to make room.
struct ConnectionRoster<ID: Hashable> {
    /// The most connections: a scraper, a few probes and a few people.
    let limit: Int
    /// The connections that wait for a request, the one that waits longest first, and those whose answer is on its way.
    private(set) var waiting: [ID] = []
    private(set) var answering: [ID] = []

    /// Makes an empty roster.
    init(limit: Int) { self.limit = limit }

    /// Adds a connection.
    ///
    /// - Returns: The one that has to go: the one that has been waiting longest, else the oldest being answered.
    mutating func add(_ id: ID) -> ID? {
        var leaving: ID?
        if waiting.count + answering.count >= limit {
            leaving = waiting.isEmpty ? answering.removeFirst() : waiting.removeFirst()
        }
        waiting.append(id)
        return leaving
    }

    /// Notes that a connection's request is there.
    mutating func requestArrived(_ id: ID) {
        guard let index = waiting.firstIndex(of: id) else { return }
        answering.append(waiting.remove(at: index))
    }

    /// Notes that a connection's answer is written; it waits again, behind all others.
    mutating func answered(_ id: ID) {
        guard let index = answering.firstIndex(of: id) else { return }
        waiting.append(answering.remove(at: index))
    }

    /// Forgets a connection.
    mutating func remove(_ id: ID) {
        waiting.removeAll { $0 == id }
        answering.removeAll { $0 == id }
    }
}
