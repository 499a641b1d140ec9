/// The open connections of the admin server, in the order in which they make room for new ones.
struct ConnectionRoster<ID: Hashable> {
    /// The most connections: a scraper, a few probes and a few people.
    let limit: Int
    /// The connections that wait for a request. The one that has waited longest is the first.
    private(set) var waiting: [ID] = []
    /// The connections whose request is being answered, the oldest first.
    private(set) var answering: [ID] = []

    /// Makes an empty roster.
    init(limit: Int) { self.limit = limit }

    /// Adds a connection.
    ///
    /// - Returns: The connection to close; nil if there is room. It is the one that has waited longest, or, if none
    ///   waits, the oldest of those being answered.
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

    /// Notes that the answer on a connection is written. The connection waits again, behind all others.
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
