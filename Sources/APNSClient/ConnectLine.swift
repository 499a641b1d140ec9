import EventLoop

/// The paces of a process, and the connects that wait for them: to each host the most urgent goes first, of equal ones the
/// one that came first. Pure: time comes in.
///
/// Nobody is called. Each asks again when it was told to, and is told anew how long to wait if others have come before
/// it. Whoever does not ask in time holds nobody up: the next one goes as soon as the pace has room for both.
struct ConnectLine: Sendable {
    private struct Entry {
        let number: Int
        let host: String
        var urgency: ConnectUrgency
    }

    /// Hosts remembered at most; idle ones are forgotten first. Configuration names a handful.
    private static let hostLimit = 256

    private let fresh: ConnectPace
    private var process: ConnectPace
    private var hosts: [String: ConnectPace] = [:]
    /// Those who wait, in the order in which they came: at most two for each destination of a route.
    private var entries: [Entry] = []
    private var lastNumber = 0

    /// A line in which nobody waits.
    ///
    /// - Parameters:
    ///   - host: the pace of each host.
    ///   - process: the pace of all hosts together; those who wait for another host do not count in it, so that a host
    ///     with a long line delays no other.
    init(host: ConnectPace, process: ConnectPace) {
        fresh = host
        self.process = process
    }

    /// Puts a connect at the end of the line.
    ///
    /// - Returns: what names it.
    mutating func enter(host: String, _ urgency: ConnectUrgency) -> Int {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, host: host, urgency: urgency))
        return lastNumber
    }

    /// A connect is not wanted any more; nothing happens if it has gone.
    mutating func leave(_ number: Int) { entries.removeAll { $0.number == number } }

    /// A connect is more urgent than it was.
    ///
    /// - Returns: whether that is news.
    mutating func raise(_ number: Int, to urgency: ConnectUrgency) -> Bool {
        guard let index = entries.firstIndex(where: { $0.number == number }), entries[index].urgency < urgency else {
            return false
        }
        entries[index].urgency = urgency
        return true
    }

    /// A connect asks whether it may begin.
    ///
    /// - Parameters:
    ///   - number: what names it.
    ///   - now: the time.
    /// - Returns: after how long it is to ask again; zero where it begins, and has left the line.
    mutating func ask(_ number: Int, now: MonotonicTime) -> Duration {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return .zero }
        let entry = entries[index]
        if hosts.count >= Self.hostLimit { hosts = hosts.filter { !$0.value.isIdle(now: now) } }
        var pace = hosts[entry.host] ?? fresh
        let wait = max(pace.wait(now: now, ahead: ahead(of: index)), process.wait(now: now))
        guard wait == .zero else { return wait }
        pace.take(now: now)
        process.take(now: now)
        hosts[entry.host] = pace
        entries.remove(at: index)
        return .zero
    }

    /// How many connects to the same host go before one.
    private func ahead(of index: Int) -> Int {
        let entry = entries[index]
        var ahead = 0
        for (position, other) in entries.enumerated() where other.host == entry.host {
            let isFirst = position < index && other.urgency == entry.urgency
            if isFirst || other.urgency > entry.urgency { ahead += 1 }
        }
        return ahead
    }
}
