import DequeModule
import EventLoop
import RabbitMQ

/// A channel of the publish connection in confirm mode, with the publications that wait for it or are unanswered on it.
///
/// A class, because its owner settles publications while the channel takes a confirm.
final class PublishChannel {
    /// Most entries that the channel keeps, from the oldest unanswered publication to the newest. Confirms may overtake
    /// the oldest.
    static let span = 32_000

    /// Its number.
    private(set) var number: UInt16
    /// Whether it is open, and when it is to be opened.
    var state = ConfirmChannel()
    /// Publications that wait for room.
    var waiting = Deque<Publication>()
    private var unanswered = ConfirmTracker<Publication>()
    /// Deals out the channel's places, and keeps the publications of routes that have none.
    private var window: PublishWindow<Publication>

    /// A channel without a connection.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - window: Most publications that are unanswered on it.
    init(_ number: UInt16, window: Int) {
        self.number = number
        self.window = PublishWindow(size: window)
    }

    /// Whether it can be published to.
    var isOpen: Bool { state.isOpen }
    /// Whether nothing waits and all is answered.
    var isIdle: Bool { waiting.isEmpty && window.isEmpty && unanswered.unconfirmed == 0 }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { unanswered.unconfirmed }
    /// When the oldest publication without an answer was published; nil without one.
    var oldest: MonotonicTime? { unanswered.oldest }
    /// How many publications were answered that are later than the oldest unanswered one.
    var overtakers: Int { unanswered.overtakers }
    /// Whether publications wait that could go out if there were room in the session's output buffer.
    var wantsRoom: Bool { isOpen && hasRoom && (!waiting.isEmpty || !window.ready.isEmpty) }
    /// Whether one unanswered publication keeps so many entries that no more may be published.
    var isFull: Bool { unanswered.span >= Self.span }
    private var hasRoom: Bool { unanswered.unconfirmed < window.size && !isFull }
    /// Whether publications wait because their routes have no place.
    var isCrowded: Bool { !window.isEmpty }
    /// The routes whose publications wait because they have no place.
    var crowdedRoutes: Set<Int> { window.routes }
    /// How many publications of a route wait for a place.
    func crowded(_ route: Int) -> Int { window.count(of: route) }

    /// Publishes what there is room for.
    ///
    /// - Parameters:
    ///   - session: The connection.
    ///   - writer: Writes the messages.
    ///   - now: The time.
    ///   - written: Takes each publication that was written, or that no frame of the broker can carry.
    /// - Throws: `AMQPError` that ends the connection.
    func send(
        on session: AMQPSession, with writer: inout PublicationWriter, now: MonotonicTime,
        written: (Publication, PublicationWriter.Outcome) -> Void
    ) throws(AMQPError) {
        guard isOpen else { return }
        window.passTime(now: now)
        for route in window.ready {
            while hasRoom, window.hasPlace(for: route), let publication = window.first(of: route) {
                guard try write(publication, on: session, with: &writer, now: now, written: written) else { return }
                window.removeFirst(of: route)
            }
        }
        while hasRoom, let publication = waiting.first {
            if window.hasPlace(for: publication.route), window.count(of: publication.route) == 0 {
                guard try write(publication, on: session, with: &writer, now: now, written: written) else { return }
            } else {
                window.hold(publication)
            }
            waiting.removeFirst()
        }
    }

    /// Writes one publication.
    ///
    /// - Returns: False without room.
    private func write(
        _ publication: Publication, on session: AMQPSession, with writer: inout PublicationWriter, now: MonotonicTime,
        written: (Publication, PublicationWriter.Outcome) -> Void
    ) throws(AMQPError) -> Bool {
        let outcome = try writer.write(publication, on: number, of: session)
        if outcome == .noRoom { return false }
        if outcome == .written {
            window.published(publication.route, now: now)
            unanswered.published(publication, mark: writer.renderer.mark(of: publication), now: now)
        }
        written(publication, outcome)
        return true
    }

    /// Takes out publications that wait for room or for a place.
    func removeWaiting(where isTaken: (Publication) -> Bool) {
        // The window goes first, because its publications came first.
        window.removeAll(where: isTaken)
        waiting.removeAll(where: isTaken)
    }

    /// Notes that an unanswered publication was returned.
    ///
    /// - Returns: False when none matches.
    func returned(where matches: (Publication) -> Bool) -> Bool { unanswered.returned(where: matches) }

    /// Applies a confirm or a refusal, and reports each publication that it settles.
    func confirmed(
        _ tag: UInt64, multiple: Bool, positive: Bool, settle: (Publication, ConfirmTracker<Publication>.Fate) -> Void
    ) {
        _ = unanswered.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
            window.answered(publication.route)
            settle(publication, fate)
        }
    }

    /// Stops waiting for the answers to publications.
    ///
    /// - Parameters:
    ///   - age: Those that are unanswered for this long.
    ///   - overtaken: Only those that answered ones overtook.
    ///   - now: The time.
    /// - Returns: Those publications.
    func abandon(after age: Duration, onlyOvertaken overtaken: Bool = false, now: MonotonicTime) -> [Publication] {
        var abandoned: [Publication] = []
        unanswered.abandon(after: age, onlyOvertaken: overtaken, now: now) { publication in
            window.answered(publication.route)
            abandoned.append(publication)
        }
        return abandoned
    }

    /// The channel is gone. Publications that waited for a place wait for room now.
    ///
    /// - Returns: The unanswered publications. The broker may have them already, and then gets them twice.
    func lose() -> [Publication] {
        waiting.prepend(contentsOf: window.reset())
        return unanswered.channelLost()
    }

    /// Takes another number. Later frames of the broker for the old number are ignored.
    func renumber(_ number: UInt16) {
        self.number = number
        state.lost()
        state.connected()
    }
}
