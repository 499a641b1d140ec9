import DequeModule
import EventLoop
import RabbitMQ

/// A channel of the publish connection in confirm mode: what waits for it, and what is unanswered on it.
///
/// A class, because its owner settles publications while the channel takes a confirm.
final class PublishChannel {
    /// Most entries kept, because confirms may overtake an older one.
    static let span = 32_000

    /// Its number.
    let number: UInt16
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
    /// When the latest of the answered publications was published; nil without one.
    var newestAnswered: MonotonicTime? { unanswered.newestAnswered }
    /// How many publications were answered that are later than the oldest unanswered one.
    var overtakers: Int { unanswered.overtakers }
    /// Whether publications wait that could go out if there were room in the session's output buffer.
    var wantsRoom: Bool { isOpen && hasRoom && (!waiting.isEmpty || window.hasReleasable) }
    private var hasRoom: Bool { unanswered.unconfirmed < window.size && unanswered.span < Self.span }
    /// Whether publications wait because their routes have no place.
    var isCrowded: Bool { !window.isEmpty }
    /// The routes of such publications.
    var crowdedRoutes: Set<Int> { window.routes }
    /// How many publications of a route wait for a place.
    func crowded(_ route: Int) -> Int { window.count(of: route) }

    /// Publishes what there is room for.
    ///
    /// - Parameters:
    ///   - session: The connection.
    ///   - writer: Writes the messages.
    ///   - now: The time.
    ///   - written: Takes what was written, and what no frame of the broker can carry.
    /// - Throws: `AMQPError` that ends the connection.
    func send(
        on session: AMQPSession, with writer: inout PublicationWriter, now: MonotonicTime,
        written: (Publication, PublicationWriter.Outcome) -> Void
    ) throws(AMQPError) {
        guard isOpen else { return }
        while hasRoom, let publication = waiting.first {
            guard window.hasPlace(for: publication.route) else {
                window.hold(waiting.removeFirst())
                continue
            }
            let outcome = try writer.write(publication, on: number, of: session)
            if outcome == .noRoom { return }
            waiting.removeFirst()
            if outcome == .written {
                window.published(publication.route)
                unanswered.published(publication, mark: writer.renderer.mark(of: publication), now: now)
            }
            written(publication, outcome)
        }
    }

    /// Takes out publications whose routes have places again.
    func release() -> [Publication] { window.release() }

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
    ///   - limit: Those that were published until this time; nil for all.
    ///   - now: The time.
    /// - Returns: Those publications.
    func abandon(after age: Duration, until limit: MonotonicTime? = nil, now: MonotonicTime) -> [Publication] {
        var abandoned: [Publication] = []
        unanswered.abandon(after: age, until: limit, now: now) { publication in
            window.answered(publication.route)
            abandoned.append(publication)
        }
        return abandoned
    }

    /// The channel is gone. Publications that waited for a place wait for room now.
    ///
    /// - Returns: What was unanswered. The broker may have it, and then gets it twice.
    func lose() -> [Publication] {
        waiting.prepend(contentsOf: window.reset())
        return unanswered.channelLost()
    }
}
