internal import DequeModule
internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// Publishes results, replies, retry copies and dead letters, and learns what became of each.
///
/// What has no room in the session's output buffer stays in `waiting`. A publication that the broker refused or could
/// not route is published again with backoff, as the same message; it is never dropped. While such publications pile
/// up the lane starts no new pushes (`isCongested`).
final class Publisher {
    /// The confirm channel for everything but replies.
    static let mainChannel: UInt16 = 1
    /// The confirm channel for replies, so that a broken `apns.replies` hurts replies alone.
    static let replyChannel: UInt16 = 2
    /// Most publications whose confirm is awaited on one channel.
    static let window = 2_000
    /// Most places kept per channel for confirms that may overtake an older one.
    static let span = 16 * window
    /// Publications waiting for room, or refused, beyond which no new push starts.
    static let congestion = 512
    /// How long nothing may go out before jobs that were not sent are handed back.
    static let heldUpLimit = Duration.seconds(30)

    private var waiting = Deque<Publication>()
    private var waitingReplies = Deque<Publication>()
    /// Publications whose notes the journal has not written yet, in the order of the notes. They are as many as the
    /// prefetch allows and go out a moment later, so pushes go on meanwhile.
    private var unnoted = Deque<Publication>()
    /// Refused or returned publications, to be published again together at `againAt`.
    private var again: [Publication] = []
    private var againAt = MonotonicTime(nanoseconds: 0)
    /// Where publications go that the broker closed the channel over; they wait in `again`, so that others go out.
    private var closed: Set<Publication.Destination> = []
    /// When the broker last refused or returned one.
    private var refusedAt = MonotonicTime(nanoseconds: 0)
    /// How many publications were refused or returned and are not confirmed yet, wherever they are.
    private var refused = 0
    private var backoff = Backoff.publication
    private var patience: ConfirmPatience
    private let heldUpLimit: Duration
    /// Since when `isCongested` without a pause.
    private var congestedSince: MonotonicTime?
    private var random = SystemRandomNumberGenerator()
    private var main = ConfirmTracker<Publication>()
    private var replies = ConfirmTracker<Publication>()
    private var message = OutgoingMessage()
    private var mainChannel = ConfirmChannel()
    private var repliesChannel = ConfirmChannel()
    private let link: () -> BrokerLink?
    private let renderer: PublicationRenderer
    private let isNoted: (UInt64) -> Bool
    private let fate: (Publication, ConfirmTracker<Publication>.Fate) -> Void

    /// Why publications do not go through, for readiness: `results_full`, `dead_full`, `unroutable`, `blocked`.
    private(set) var trouble: String?
    /// Counts for metrics.
    private(set) var counts = Counts()

    /// Where one of the two confirm channels stands.
    private struct ConfirmChannel {
        enum State {
            case closed, opening, open
        }

        var state = State.closed
        /// When a closed channel is to be opened; nil without a connection.
        var dueAt: MonotonicTime?
        /// When it was opened last.
        var openedAt = MonotonicTime(nanoseconds: 0)
        /// Since when the broker owes it the answer that opens it; nil where it does not.
        var awaitedSince: MonotonicTime? { state == .opening ? openedAt : nil }
        var backoff = Backoff.publication

        /// The connection is gone, and the channel with it; how often it was closed before is kept in mind.
        mutating func lost() {
            state = .closed
            dueAt = nil
        }

        /// The broker closed the channel: it is opened again after a wait that grows while it does not last.
        mutating func closed(now: MonotonicTime, random: inout some RandomNumberGenerator) {
            backoff.ended(after: now - openedAt)
            state = .closed
            dueAt = now + backoff.next(using: &random)
        }
    }

    private var mainIsOpen: Bool { mainChannel.state == .open }
    private var repliesAreOpen: Bool { repliesChannel.state == .open }

    /// What happened to publications so far.
    struct Counts {
        /// How many were published, by kind.
        var publications = [4 of Int](repeating: 0)
        /// How they were answered.
        var confirms = [4 of Int](repeating: 0)
    }

    /// How many publications on the main channel may be unconfirmed: all of the window, but after the broker closed the
    /// channel one, and one more with each confirm. What one publication brings about would otherwise cost all those
    /// around it their confirms, and they would be stored again and again.
    private var allowance = Publisher.window

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - link: The publish connection of the lane.
    ///   - renderer: Writes a publication as a message.
    ///   - patience: Decides how long a confirm is awaited.
    ///   - heldUpLimit: How long nothing may go out before jobs that were not sent are handed back.
    ///   - isNoted: Whether the journal's note of a number keeps no publication back.
    ///   - fate: Called once per publication that is confirmed, or for a reply that was returned or refused.
    init(
        link: @escaping () -> BrokerLink?, renderer: PublicationRenderer, patience: ConfirmPatience = ConfirmPatience(),
        heldUpLimit: Duration = Publisher.heldUpLimit, isNoted: @escaping (UInt64) -> Bool = { _ in true },
        fate: @escaping (Publication, ConfirmTracker<Publication>.Fate) -> Void
    ) {
        self.link = link
        self.renderer = renderer
        self.patience = patience
        self.heldUpLimit = heldUpLimit
        self.isNoted = isNoted
        self.fate = fate
    }

    /// Whether a result of a job that is refused may be queued: fewer of them than of pushes, which they must not hold up.
    func takesRefusals(withReply wantsReply: Bool) -> Bool {
        let replies = repliesAreOpen || wantsReply ? waitingReplies.count : 0
        return mainIsOpen && refused <= Self.congestion && waiting.count + replies + again.count < Self.congestion / 2
    }
    /// Whether so much waits, or is refused, that no new push should start.
    var isCongested: Bool {
        // Replies count while they can go out: a broken exchange for them hurts replies alone.
        !mainIsOpen || refused > Self.congestion
            || waiting.count + (repliesAreOpen ? waitingReplies.count : 0) + again.count > Self.congestion
    }
    /// Whether that has been so for so long that another worker should have the jobs that were not sent.
    func isHeldUp(now: MonotonicTime) -> Bool {
        congestedSince.map { now >= $0 + heldUpLimit } ?? false
    }
    /// Whether nothing is left to publish or to be confirmed.
    var isIdle: Bool {
        waiting.isEmpty && waitingReplies.isEmpty && again.isEmpty && unnoted.isEmpty && unconfirmed == 0
    }
    /// How many publications wait for the journal.
    var unnotedCount: Int { unnoted.count }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { main.unconfirmed + replies.unconfirmed }
    /// Whether publications wait that could go out if there were room.
    var wantsRoom: Bool {
        (mainIsOpen && !waiting.isEmpty && Self.hasRoom(main, allowance))
            || (repliesAreOpen && !waitingReplies.isEmpty && Self.hasRoom(replies))
    }
    private static func hasRoom(
        _ tracker: borrowing ConfirmTracker<Publication>, _ allowance: Int = Publisher.window
    ) -> Bool {
        tracker.unconfirmed < allowance && tracker.span < span
    }
    /// Since when the broker owes what it has owed the longest: a confirm, or an open channel.
    private var oldestDebt: MonotonicTime? {
        [main.oldest, replies.oldest, mainChannel.awaitedSince, repliesChannel.awaitedSince].compactMap(\.self).min()
    }
    /// Whether results can go out, but for the broker's flow control.
    var isOpen: Bool { mainIsOpen }
    /// When `publish(now:)` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        guard link()?.session != nil else { return nil }
        let due = [
            again.isEmpty ? nil : againAt, mainChannel.dueAt, repliesChannel.dueAt,
            patience.due(oldest: oldestDebt),
        ]
        return due.compactMap(\.self).min()
    }

    /// Takes a publication; it goes out with the end of the turn, or of the one in which its note is written.
    func enqueue(_ publication: Publication) {
        if let note = publication.note, !isNoted(note) {
            unnoted.append(publication)
        } else {
            line(up: publication)
        }
    }

    private func line(up publication: Publication) {
        if case .reply = publication.content {
            waitingReplies.append(publication)
        } else if let destination = publication.destination, closed.contains(destination) {
            again.append(publication)
        } else {
            waiting.append(publication)
        }
    }

    /// Publishes what there is room for.
    func publish(now: MonotonicTime) {
        while let note = unnoted.first?.note, isNoted(note) { line(up: unnoted.removeFirst()) }
        congestedSince = isCongested ? congestedSince ?? now : nil
        guard let session = link()?.session, keepsPatience(session, now: now) else { return }
        reopenChannels(session, now: now)
        if !again.isEmpty, now >= againAt {
            // One that closes the channel goes alone, so that it costs no other its confirm.
            if !closed.isEmpty { allowance = 1 }
            waiting.prepend(contentsOf: again)
            again.removeAll(keepingCapacity: true)
        }
        guard wantsRoom else { return }
        guard !session.isBlocked else { return }
        do throws(AMQPError) {
            if mainIsOpen { try send(&waiting, on: Self.mainChannel, tracking: &main, allowance, session, now) }
            if repliesAreOpen {
                try send(&waitingReplies, on: Self.replyChannel, tracking: &replies, Self.window, session, now)
            }
        } catch {
            link()?.failed(error, now: now)
        }
    }

    /// Gives a connection up on which confirms do not come, or channels do not open.
    ///
    /// - Returns: Whether it is still there.
    private func keepsPatience(_ session: AMQPSession, now: MonotonicTime) -> Bool {
        if session.isBlocked { patience.excused(now: now) }
        guard patience.runsOut(oldest: oldestDebt, now: now) else { return true }
        let missing =
            unconfirmed > 0
            ? "the broker does not confirm: \(unconfirmed) publications wait, and are published again"
            : "the broker does not open a channel for publishing"
        link()?.failed(AMQPError(.timeout, missing), now: now)
        return false
    }

    private func send(
        _ queue: inout Deque<Publication>, on channel: UInt16, tracking tracker: inout ConfirmTracker<Publication>,
        _ allowance: Int, _ session: AMQPSession, _ now: MonotonicTime
    ) throws(AMQPError) {
        while Self.hasRoom(tracker, allowance), let publication = queue.first {
            renderer.render(publication, into: &message)
            guard try put(publication, on: channel, session) else { return }
            queue.removeFirst()
            counts.publications[publication.kind.rawValue] += 1
            tracker.published(publication, mark: renderer.mark(of: publication), now: now)
        }
    }
}

extension Publisher {
    /// Writes the rendered message; one that the broker's frames cannot carry goes without the producer's headers.
    private func put(
        _ publication: Publication, on channel: UInt16, _ session: AMQPSession
    ) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            return try session.publish(message, channel: channel)
        } catch {
            guard error.code == .invalidMessage else { throw error }
            renderer.render(publication, into: &message, withProducerHeaders: false)
            return try session.publish(message, channel: channel)
        }
    }
}

// MARK: The publish connection's events

extension Publisher {
    /// The publish connection is there: open both channels in confirm mode.
    func connectionOpened() {
        mainChannel.dueAt = MonotonicTime(nanoseconds: 0)
        repliesChannel.dueAt = MonotonicTime(nanoseconds: 0)
    }

    /// The publish connection is gone: everything unconfirmed is published again, as the same messages, in order.
    func connectionLost() {
        counts.confirms[LaneCounters.Confirm.lost.rawValue] += unconfirmed
        waiting.prepend(contentsOf: mainChannelLost())
        waitingReplies.prepend(contentsOf: replies.channelLost())
        mainChannel.lost()
        repliesChannel.lost()
    }

    /// What was unconfirmed on the main channel is published again, and the broker may then have it twice.
    private func mainChannelLost() -> [Publication] {
        let lost = main.channelLost()
        for publication in lost { publication.isRepublished = true }
        return lost
    }

    private func reopenChannels(_ session: AMQPSession, now: MonotonicTime) {
        do throws(AMQPError) {
            if Self.isDue(&mainChannel, now: now) { try session.openChannel(Self.mainChannel) }
            if Self.isDue(&repliesChannel, now: now) { try session.openChannel(Self.replyChannel) }
        } catch {
            link()?.failed(error, now: now)
        }
    }

    /// Whether a closed channel is to be opened now; it then counts as opening.
    private static func isDue(_ channel: inout ConfirmChannel, now: MonotonicTime) -> Bool {
        guard channel.state == .closed, let due = channel.dueAt, now >= due else { return false }
        channel.state = .opening
        channel.dueAt = nil
        channel.openedAt = now
        return true
    }

    /// A channel is open: ask for confirms on it.
    func channelOpened(_ channel: UInt16, now: MonotonicTime) {
        do throws(AMQPError) {
            try link()?.session?.selectConfirms(channel)
        } catch {
            link()?.distrust(error.message)
        }
    }

    /// Confirms are on: the channel can be published to.
    func confirmsSelected(_ channel: UInt16) {
        if channel == Self.mainChannel {
            mainChannel.state = .open
            // With nothing to publish no confirm would ever say that the trouble is over.
            if waiting.isEmpty, again.isEmpty { trouble = nil }
        } else {
            repliesChannel.state = .open
        }
    }

    /// The broker closed a channel, for instance because an exchange is missing (404): open it again after a while.
    func channelClosed(_ channel: UInt16, code: UInt16, text: String, now: MonotonicTime) {
        if channel == Self.mainChannel {
            mainChannel.closed(now: now, random: &random)
            allowance = 1
            counts.confirms[LaneCounters.Confirm.lost.rawValue] += main.unconfirmed
            let lost = mainChannelLost()
            if lost.count == 1, let destination = lost[0].destination {
                // It was alone, so it is what the broker does not take; others for the same exchange it may take.
                waiting.append(contentsOf: lost)
                close(destination, now: now)
            } else {
                waiting.prepend(contentsOf: lost)
            }
            trouble = "the broker closed the publish channel: \(code) \(text)"
        } else {
            repliesChannel.closed(now: now, random: &random)
            counts.confirms[LaneCounters.Confirm.lost.rawValue] += replies.unconfirmed
            // A reply is not worth a loop of closed channels: what was unconfirmed counts as not routed.
            for lost in replies.channelLost() { fate(lost, .returned) }
            for lost in waitingReplies { fate(lost, .returned) }
            waitingReplies.removeAll()
        }
    }

    /// A message came back because nothing is bound for it; its confirm follows.
    func returned(channel: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>) {
        let renderer = renderer
        func isIt(_ publication: Publication) -> Bool {
            renderer.isSame(publication, messageID: messageID, exchange: exchange, routingKey: routingKey)
        }
        let isKnown = channel == Self.mainChannel ? main.returned(where: isIt) : replies.returned(where: isIt)
        // Its confirm would pass for success. With a new connection all that is unconfirmed is published again.
        if !isKnown { link()?.distrust("the broker returned a message that waits for no confirm") }
    }

    /// The broker confirmed or refused publications.
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool, now: MonotonicTime) {
        // It may be the confirm of a message that came back and was not recognised.
        guard link()?.isDistrusted != true else { return }
        if channel == Self.mainChannel {
            _ = main.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
                settled(publication, fate, now: now)
            }
        } else {
            _ = replies.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
                count(fate)
                self.fate(publication, fate)
            }
        }
    }

    private func count(_ fate: ConfirmTracker<Publication>.Fate) {
        let confirm: LaneCounters.Confirm =
            switch fate {
            case .confirmed: .ack
            case .returned, .perhapsReturned: .returned
            case .refused: .nack
            }
        counts.confirms[confirm.rawValue] += 1
    }

    private func settled(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        count(fate)
        if allowance < Self.window { allowance += 1 }
        guard fate != .confirmed else {
            if publication.isRefused { refused -= 1 }
            if !closed.isEmpty, let destination = publication.destination { closed.remove(destination) }
            if trouble != nil, refused == 0 { trouble = nil }
            self.fate(publication, fate)
            return
        }
        trouble = publication.trouble(after: fate)
        if fate == .perhapsReturned { publication.isRepublished = true }
        setAside(publication, now: now)
    }

    /// Lets everything for a destination step aside that the broker closed the channel over; others go on.
    private func close(_ destination: Publication.Destination, now: MonotonicTime) {
        closed.insert(destination)
        for publication in waiting where publication.destination == destination { setAside(publication, now: now) }
        waiting.removeAll { $0.destination == destination }
    }

    /// Keeps a publication that the broker did not take, to be published again after a while.
    private func setAside(_ publication: Publication, now: MonotonicTime) {
        if again.isEmpty {
            // Others may be taken meanwhile: only a time without any refusal shows that the trouble is over.
            backoff.ended(after: now - refusedAt)
            againAt = now + backoff.next(using: &random)
        }
        refusedAt = now
        if !publication.isRefused { refused += 1 }
        publication.isRefused = true
        again.append(publication)
    }
}
