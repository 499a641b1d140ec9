import EventLoop

/// The paces of a process, and the connects that wait for them. Pure: time comes in.
///
/// Of the connects to one host, the most urgent goes first. Among equally urgent connects, the one that came first goes
/// first.
///
/// The line calls nobody. Each connect asks whether it may begin, and is told when to ask again. If other connects have
/// come before it meanwhile, it is told again how long to wait. A connect that does not ask in time delays no other
/// connect: the next one goes as soon as the pace has room for both.
struct ConnectLine: Sendable {
    private struct Entry {
        let number: Int
        let host: String
        var urgency: ConnectUrgency
    }

    /// The number of hosts from which on idle hosts are forgotten. A configuration names only a few hosts.
    private static let hostLimit = 256

    private let fresh: ConnectPace
    private var process: ConnectPace
    private var hosts: [String: ConnectPace] = [:]
    /// The connects that wait, in the order in which they came: at most two for each pool.
    private var entries: [Entry] = []
    private var lastNumber = 0

    /// A line in which nobody waits.
    ///
    /// - Parameters:
    ///   - host: The pace of each host.
    ///   - process: The pace of all hosts together. Waiting connects do not count in it, so that a host with a long
    ///     line delays no other host.
    init(host: ConnectPace, process: ConnectPace) {
        fresh = host
        self.process = process
    }

    /// Puts a connect at the end of the line.
    ///
    /// - Returns: Its number.
    mutating func enter(host: String, _ urgency: ConnectUrgency) -> Int {
        lastNumber += 1
        entries.append(Entry(number: lastNumber, host: host, urgency: urgency))
        return lastNumber
    }

    /// A connect is not wanted any more. Nothing happens if it has left the line.
    mutating func leave(_ number: Int) { entries.removeAll { $0.number == number } }

    /// A connect is more urgent than it was.
    ///
    /// - Returns: Whether the connect is in the line and was less urgent before.
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
    ///   - number: Its number.
    ///   - now: The time.
    /// - Returns: After how long the connect should ask again; zero if it begins now and has left the line.
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

    /// How many connects to the same host go before the one at this index.
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
