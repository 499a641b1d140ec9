import DequeModule
import EventLoop

/// Finds the publications over which the broker closes the channel, and keeps them off the shared channel.
///
/// The broker closes a channel over a publication whose exchange is missing or forbidden. It does not say which
/// publication that was, so every unconfirmed one is suspected.
///
/// - One publication of each exchange is tried on a channel for tries. Others for that exchange wait until the broker
///   answers the tried one.
/// - A publication that was unconfirmed at a second closing is tried itself, even if its exchange is open, because the
///   message may be the cause.
/// - The first try has one publication. Each try without a closing doubles the number, and each closing sets it back to
///   one. So the culprit is found: a publication that costs the channel when it is the only one.
/// - The culprit's exchange then counts as closed. Publications for it wait, and one is tried per backoff.
///
/// Pure: events in, publications out.
struct ChannelTrials<Item: StallingPublication> {
    /// Most publications that are tried at once. One route may have as many out.
    static var mostAtOnce: Int { PublishWindow<Item>.mostOfOne }

    /// Publications to try as soon as the channel for tries is open.
    private var suspects = Deque<Item>()
    /// Publications that wait for each suspected or closed exchange.
    private var held: [Publication.Destination: Deque<Item>] = [:]
    /// Exchanges whose last try cost the channel. The first is tried next.
    private var closed = Deque<Publication.Destination>()
    /// Publications that cost the channel when they were the only one. The first is tried next.
    private var culprits = Deque<Item>()
    /// Publications that are out and unanswered.
    private var out: [Item] = []
    /// Whether the publication that is out is a culprit: it cost a channel before as the only one.
    private var isCulpritOut = false
    /// Whether a culprit with an open exchange goes before a closed exchange. Changes with each closing.
    private var prefersOpen = true
    /// How many suspects are tried next.
    private var batch = 1
    private var counts: [Int: Int] = [:]

    /// Starts without publications.
    init() {}

    /// Whether nothing waits here or is tried.
    var isEmpty: Bool { counts.isEmpty }
    /// Whether a publication that may be harmless waits for its try. That try must not be delayed.
    var isUrgent: Bool { !suspects.isEmpty }
    /// Whether a publication can be tried now.
    var hasNext: Bool { out.isEmpty && !isEmpty }

    /// The routes whose publications wait here or are tried.
    var routes: Set<Int> { Set(counts.keys) }
    /// How many publications of a route wait here or are tried.
    func count(of route: Int) -> Int { counts[route] ?? 0 }

    /// Holds a new publication if its exchange is suspected or closed.
    ///
    /// - Returns: False if the exchange is neither. The publication can go out.
    mutating func takes(_ item: Item) -> Bool {
        guard !isEmpty, let destination = item.destination, held[destination] != nil else { return false }
        hold(item, destination)
        count(item, 1)
        return true
    }

    /// Takes all publications that were unconfirmed on the main or the slow channel when the broker closed it.
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

    /// Takes out the publications to try next.
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

    /// The broker answered a tried publication, so its exchange exists.
    ///
    /// - Returns: The publications that waited for the exchange and can go out now, in their order.
    mutating func succeeded(_ item: Item) -> Deque<Item> {
        guard let position = out.firstIndex(where: { $0 === item }), let destination = item.destination else {
            return []
        }
        out.remove(at: position)
        count(item, -1)
        if out.isEmpty { batch = min(Self.mostAtOnce, 2 * batch) }
        closed.removeAll { $0 == destination }
        let waiting = held.removeValue(forKey: destination) ?? []
        // A publication that was unconfirmed twice may be the cause, so it is tried itself.
        suspects.append(contentsOf: waiting.filter { $0.closings >= 2 })
        let released = waiting.filter { $0.closings < 2 }
        for item in released { count(item, -1) }
        return released
    }

    /// A tried publication will never be sent. That says nothing about its exchange.
    mutating func gaveUp(_ item: Item) {
        guard let position = out.firstIndex(where: { $0 === item }) else { return }
        out.remove(at: position)
        count(item, -1)
        guard let destination = item.destination, let waiting = held[destination],
            ![Deque(out), suspects, culprits].joined().contains(where: { $0.destination == destination })
        else { return }
        guard waiting.isEmpty else {
            // Of a suspected exchange nothing is left to be tried, so the first that waits is tried in its place.
            if !closed.contains(destination), let first = held[destination]?.popFirst() { suspects.append(first) }
            return
        }
        held[destination] = nil
        closed.removeAll { $0 == destination }
    }

    /// The broker closed the channel over one of the unconfirmed tried publications.
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

    /// Publications to be tried did not go out, or their connection is gone. They are tried again.
    ///
    /// - Parameter items: Which publications; nil for all that are out.
    mutating func putBack(_ items: [Item]? = nil) {
        let items = items ?? out
        out.removeAll { item in items.contains { $0 === item } }
        if isCulpritOut { culprits.prepend(contentsOf: items) } else { suspects.prepend(contentsOf: items) }
    }

    /// Takes out publications for one exchange whose last try cost the channel, because they can go another way.
    ///
    /// - Parameter isTaken: Which publications can.
    /// - Returns: The first such exchange and its publications; nil without any.
    mutating func takeClosed(where isTaken: (Item) -> Bool) -> (destination: Publication.Destination, items: [Item])? {
        guard out.isEmpty else { return nil }
        for destination in closed {
            func goes(_ item: Item) -> Bool { item.destination == destination && isTaken(item) }
            let items = [culprits, suspects, held[destination] ?? []].flatMap { $0.filter(goes) }
            guard !items.isEmpty else { continue }
            culprits.removeAll(where: goes)
            suspects.removeAll(where: goes)
            held[destination]?.removeAll(where: goes)
            for item in items { count(item, -1) }
            let isLeft = held[destination]?.isEmpty == false || culprits.contains { $0.destination == destination }
            if !isLeft {
                held[destination] = nil
                closed.removeAll { $0 == destination }
            }
            return (destination, items)
        }
        return nil
    }

    /// The publication was the only one, so the broker does not take it. Others for its exchange are expected to fail
    /// as well.
    private mutating func costs(_ item: Item, isKnown: Bool) {
        culprits.append(item)
        guard let destination = item.destination else { return }
        // Others have reached the exchange since this publication failed, so the message is the cause.
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
