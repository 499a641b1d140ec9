internal import DequeModule
internal import EventLoop

/// Finds out which publication costs the channel, and keeps those that do from the channel that all share.
///
/// The broker closes a channel over a publication whose exchange is missing or forbidden, and says nothing about which
/// it was. All that were unconfirmed may be it. One of each exchange is tried, alone and on a channel of its own; the
/// others for that exchange wait until it is confirmed. An exchange whose try costs the channel is closed: what goes
/// there waits, and one is tried per backoff. A publication that was unconfirmed at a second closing is tried alone,
/// even where its exchange is open, for it may be the message itself. Pure: events in, publications out.
struct ChannelTrials<Item: StallingPublication> {
    private struct Trial {
        let item: Item
        /// Whether it has cost a channel on which it was alone.
        var isCulprit = false
    }

    /// To be tried as soon as the channel for tries is open.
    private var suspects = Deque<Item>()
    /// What waits for each exchange that is suspected or closed.
    private var held: [Publication.Destination: Deque<Item>] = [:]
    /// Exchanges whose last try cost the channel, that of the next try first.
    private var closed = Deque<Publication.Destination>()
    /// Those that cost the channel alone, that of the next try first.
    private var culprits = Deque<Item>()
    private var trial: Trial?
    private var counts: [Int: Int] = [:]

    /// Starts without any.
    init() {}

    /// Whether nothing waits here or is tried.
    var isEmpty: Bool { counts.isEmpty }
    /// Whether one is out.
    var isTrying: Bool { trial != nil }
    /// Whether one waits to be tried that may be harmless, so that its try is not put off.
    var isUrgent: Bool { !suspects.isEmpty }
    /// Whether one waits that can be tried.
    var hasNext: Bool { trial == nil && !isEmpty }

    /// The routes whose publications wait here or are tried.
    var routes: Set<Int> { Set(counts.keys) }
    /// How many publications of a route wait here or are tried.
    func count(of route: Int) -> Int { counts[route] ?? 0 }

    /// Lets a new publication wait where its exchange is suspected or closed.
    ///
    /// - Returns: False where it is neither, so that it can go out.
    mutating func takes(_ item: Item) -> Bool {
        guard !isEmpty, let destination = item.destination, held[destination] != nil else { return false }
        hold(item, destination)
        count(item, 1)
        return true
    }

    /// Takes all that was unconfirmed when the broker closed the channel that all share.
    mutating func channelClosed(_ lost: [Item]) {
        for item in lost {
            item.closings += 1
            count(item, 1)
        }
        if lost.count == 1 { return costs(Trial(item: lost[0])) }
        for item in lost {
            guard let destination = item.destination else { continue }
            if held[destination] == nil {
                held[destination] = []
            } else if item.closings < 2 || closed.contains(destination) {
                hold(item, destination)
                continue
            }
            suspects.append(item)
        }
    }

    /// The next one to try, which is out then.
    mutating func next() -> Item? {
        guard trial == nil else { return nil }
        if let suspect = suspects.popFirst() {
            trial = Trial(item: suspect)
        } else if let destination = closed.popFirst() {
            closed.append(destination)
            if let item = held[destination]?.popFirst() {
                trial = Trial(item: item)
            } else if let position = culprits.firstIndex(where: { $0.destination == destination }) {
                trial = Trial(item: culprits.remove(at: position), isCulprit: true)
            }
        } else if let culprit = culprits.popFirst() {
            trial = Trial(item: culprit, isCulprit: true)
        }
        return trial?.item
    }

    /// The broker answered the one that is tried, so that its exchange is there.
    ///
    /// - Returns: Those that waited for that, in their order.
    mutating func succeeded() -> [Item] {
        guard let item = trial?.item, let destination = item.destination else { return [] }
        trial = nil
        count(item, -1)
        closed.removeAll { $0 == destination }
        let released = Array(held.removeValue(forKey: destination) ?? [])
        for item in released { count(item, -1) }
        return released
    }

    /// The broker closed the channel over the one that is tried.
    mutating func failed() {
        guard let trial else { return }
        self.trial = nil
        costs(trial)
    }

    /// The one that was to be tried did not go out, or its connection is gone: it is tried again.
    mutating func putBack() {
        guard let trial else { return }
        self.trial = nil
        if trial.isCulprit { culprits.prepend(trial.item) } else { suspects.prepend(trial.item) }
    }

    /// It was alone, so it is what the broker does not take; for now the same is expected of what goes to its exchange.
    private mutating func costs(_ trial: Trial) {
        culprits.append(trial.item)
        guard let destination = trial.item.destination else { return }
        // Others have gone there since it failed before: it is the message.
        if trial.isCulprit, held[destination] == nil { return }
        if !closed.contains(destination) { closed.append(destination) }
        var waiting = held[destination] ?? []
        waiting.append(contentsOf: suspects.filter { $0.destination == destination })
        suspects.removeAll { $0.destination == destination }
        held[destination] = waiting
    }

    private mutating func hold(_ item: Item, _ destination: Publication.Destination) {
        held[destination, default: []].append(item)
    }

    private mutating func count(_ item: Item, _ change: Int) {
        let count = (counts[item.route] ?? 0) + change
        counts[item.route] = count == 0 ? nil : count
    }
}
