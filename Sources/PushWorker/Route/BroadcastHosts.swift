import EventLoop

/// The hosts of a route for jobs about broadcast channels, and whether any of them has something to do. Nearly every
/// route has none at work at all times, so nobody looks at them then.
struct BroadcastHosts {
    /// The hosts, as far as the configuration names any.
    let all: [Destination]
    /// Whether one of them has work or a connection.
    private(set) var hasWork = false

    /// Hosts without work.
    init(_ all: [Destination]) { self.all = all }

    /// Whether no request is open, and nothing waits to be sent.
    var areQuiet: Bool { !hasWork || all.allSatisfy(\.isQuiet) }
    /// Whether nothing is under way. Jobs that wait for the next probe after a refusal do not count.
    var areStill: Bool { !hasWork || all.allSatisfy(\.isStill) }
    /// Whether none of them has connections.
    var areUnconnected: Bool { all.allSatisfy { $0.pool == nil } }

    /// When time alone gives one of them something to do. Nobody looks at a host that sleeps, so its time would stay in
    /// the past.
    var nextDue: MonotonicTime? {
        guard hasWork else { return nil }
        return all.lazy.compactMap { $0.isAsleep ? nil : $0.nextDue }.min()
    }

    /// One of them was given work.
    mutating func gotWork() { hasWork = true }

    /// All of them were looked at: they may sleep now.
    mutating func advanced() { hasWork = all.contains { !$0.isAsleep } }
}
