internal import DequeModule
internal import EventLoop

/// Finds out which publication costs the channel, and keeps those that do from the channel that all share.
///
/// The broker closes a channel over a publication whose exchange is missing or forbidden, and says nothing about which
/// it was. All that were unconfirmed may be it. One of each exchange is tried on a channel of its own; the others for that
/// exchange wait until it is confirmed. A publication that was unconfirmed at a second closing is tried itself, even where
/// its exchange is open, for it may be the message. The first is tried alone, and twice as many after each try without a
/// closing; what costs the channel alone is found. Its exchange is then closed: what goes there waits, and one is tried
/// per backoff. Pure: events in, publications out.
struct ChannelTrials<Item: StallingPublication> {
    /// Most publications that are tried at once.
    static var mostAtOnce: Int { 512 }

    /// To be tried as soon as the channel for tries is open.
    private var suspects = Deque<Item>()
    /// What waits for each exchange that is suspected or closed.
    private var held: [Publication.Destination: Deque<Item>] = [:]
    /// Exchanges whose last try cost the channel, that of the next try first.
    private var closed = Deque<Publication.Destination>()
    /// Those that cost the channel alone, that of the next try first.
    private var culprits = Deque<Item>()
    /// Those that are out and unanswered.
    private var out: [Item] = []
    /// Whether the one that is out has cost a channel alone before.
    private var isCulpritOut = false
    /// Whether a culprit whose exchange is open is next, where there is a closed exchange, too.
    private var prefersOpen = true
    /// How many suspects are tried next.
    private var batch = 1
    private var counts: [Int: Int] = [:]

    /// Starts without any.
    init() {}

    /// Whether nothing waits here or is tried.
    var isEmpty: Bool { counts.isEmpty }
    /// Whether one waits to be tried that may be harmless, so that its try is not put off.
    var isUrgent: Bool { !suspects.isEmpty }
    /// Whether one waits that can be tried.
    var hasNext: Bool { out.isEmpty && !isEmpty }

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
        if suspects.isEmpty { batch = 1 }
        for item in lost {
            item.closings += 1
            count(item, 1)
        }
        if lost.count == 1 { return costs(lost[0], isKnown: false) }
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

    /// Those to try next, which are out then.
    mutating func next() -> [Item] {
        guard out.isEmpty else { return [] }
        isCulpritOut = false
        if !suspects.isEmpty {
            out = Array(suspects.prefix(batch))
            suspects.removeFirst(out.count)
        } else if prefersOpen || closed.isEmpty,
            let position = culprits.firstIndex(where: { culprit in !closed.contains { $0 == culprit.destination } })
        {
            out = [culprits.remove(at: position)]
            isCulpritOut = true
        } else if let destination = closed.popFirst() {
            closed.append(destination)
            if let item = held[destination]?.popFirst() {
                out = [item]
            } else if let position = culprits.firstIndex(where: { $0.destination == destination }) {
                out = [culprits.remove(at: position)]
                isCulpritOut = true
            }
        }
        return out
    }

    /// The broker answered one of those that are tried, so that its exchange is there.
    ///
    /// - Returns: Those that waited for that, in their order.
    mutating func succeeded(_ item: Item) -> Deque<Item> {
        guard let position = out.firstIndex(where: { $0 === item }), let destination = item.destination else {
            return []
        }
        out.remove(at: position)
        count(item, -1)
        if out.isEmpty { batch = min(Self.mostAtOnce, 2 * batch) }
        closed.removeAll { $0 == destination }
        let waiting = held.removeValue(forKey: destination) ?? []
        // What was unconfirmed twice may be the message, and is tried itself.
        suspects.append(contentsOf: waiting.filter { $0.closings >= 2 })
        let released = waiting.filter { $0.closings < 2 }
        for item in released { count(item, -1) }
        return released
    }

    /// One of those that are tried will never be sent, which says nothing about its exchange.
    mutating func gaveUp(_ item: Item) {
        guard let position = out.firstIndex(where: { $0 === item }) else { return }
        out.remove(at: position)
        count(item, -1)
        guard let destination = item.destination, held[destination]?.isEmpty == true,
            !suspects.contains(where: { $0.destination == destination }),
            !culprits.contains(where: { $0.destination == destination })
        else { return }
        held[destination] = nil
        closed.removeAll { $0 == destination }
    }

    /// The broker closed the channel over one of those that are tried and were not confirmed yet.
    mutating func failed() {
        let (unconfirmed, isKnown) = (out, isCulpritOut)
        out = []
        batch = 1
        prefersOpen.toggle()
        if unconfirmed.count == 1 {
            costs(unconfirmed[0], isKnown: isKnown)
        } else {
            suspects.prepend(contentsOf: unconfirmed)
        }
    }

    /// Those that were to be tried did not go out, or their connection is gone: they are tried again.
    ///
    /// - Parameter items: Which of them; nil for all that are out.
    mutating func putBack(_ items: [Item]? = nil) {
        let items = items ?? out
        out.removeAll { item in items.contains { $0 === item } }
        if isCulpritOut { culprits.prepend(contentsOf: items) } else { suspects.prepend(contentsOf: items) }
    }

    /// It was the only one, so it is what the broker does not take; for now the same is expected of what goes to its
    /// exchange.
    private mutating func costs(_ item: Item, isKnown: Bool) {
        culprits.append(item)
        guard let destination = item.destination else { return }
        // Others have gone there since it failed before: it is the message.
        if isKnown, held[destination] == nil { return }
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
