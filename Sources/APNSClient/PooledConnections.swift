/// The connections of a pool: those that take requests, and those that finish their last requests. Chooses the
/// connection for the next request.
struct PooledConnections {
    /// All of them, in the order in which they were opened.
    private(set) var all: [APNSConnection] = []
    /// The connection that gets requests until it is full or the turn ends. The requests of one turn then share records
    /// and writes.
    private var preferred: APNSConnection?

    /// Adds a connection.
    mutating func add(_ connection: APNSConnection) { all.append(connection) }

    /// Removes a connection that is gone.
    mutating func remove(_ connection: APNSConnection) {
        if preferred === connection { preferred = nil }
        all.removeAll { $0 === connection }
    }

    /// The connection for the next request; nil if no connection admits the request.
    ///
    /// - Parameters:
    ///   - bytes: The length of the request's payload.
    ///   - proving: The connection that comes first, because its credential proves itself with the first notification.
    /// - Returns: The connection.
    mutating func next(bytes: Int, proving: APNSConnection?) -> APNSConnection? {
        if let proving, proving.admits(bytes: bytes) { return proving }
        if let preferred, preferred.admits(bytes: bytes) { return preferred }
        preferred = nil
        for candidate in all where candidate.admits(bytes: bytes) {
            if candidate.machine.freeStreams > preferred?.machine.freeStreams ?? 0 { preferred = candidate }
        }
        return preferred
    }

    /// Lets the next request choose a connection anew, because the turn is over or the present connection is full.
    mutating func chooseAfresh() { preferred = nil }

    /// The connection with the fewest requests. Among several of them, the youngest. Nil if no connection that takes
    /// requests is counted.
    var leastNeeded: APNSConnection? {
        all.filter { $0.standing == .counted && $0.machine.isAdmitting }.min { one, other in
            let (left, right) = (one.machine.openStreams, other.machine.openStreams)
            return left == right ? one.openedAt > other.openedAt : left < right
        }
    }

    // MARK: Sums

    /// How many more requests of the usual length may be submitted now, as streams and windows allow.
    func capacity(usualBytes: Int) -> Int { all.reduce(0) { $0 + $1.capacity(usualBytes: usualBytes) } }

    /// How many requests of the usual length the connections take at once, if no request is open.
    func concurrency(usualBytes: Int) -> Int {
        all.reduce(0) {
            $1.machine.isAdmitting && $1.machine.streamLimit > 0 ? $0 + $1.concurrency(usualBytes: usualBytes) : $0
        }
    }

    /// Requests that may be open at once.
    var streamLimit: Int { all.reduce(0) { $0 + $1.machine.streamLimit } }

    /// Requests without an answer yet.
    var openStreams: Int { all.reduce(0) { $0 + $1.machine.openStreams } }
}
