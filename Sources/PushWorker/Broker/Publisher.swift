import DequeModule
import EventLoop
import PushModel
import RabbitMQ

/// Publishes results, replies, retry copies and dead letters, and learns what became of each.
///
/// Publications without room in the session's output buffer stay in `waiting`. A publication that the broker did not
/// take is published again as the same message. It is never dropped.
///
/// - Refused and unroutable publications wait in a line of their route (`RefusedPublications`).
/// - Publications that cost the channel are tried on another channel (`ChannelTrials`).
/// - While such publications of a route pile up, the route starts no new pushes (`isCongested(for:)`).
final class Publisher {
    /// The confirm channel for everything but replies.
    static let mainChannel: UInt16 = 1
    /// The confirm channel for replies, so that a broken `apns.replies` hurts replies alone.
    static let replyChannel: UInt16 = 2
    /// The confirm channel on which publications that may cost it are tried.
    static let trialChannel: UInt16 = 3
    /// Most unconfirmed publications on one channel.
    static let window = 2_000
    /// Most entries kept per channel, because confirms may overtake an older one.
    static let span = 16 * window
    /// No new push starts while more publications than this wait for room.
    static let congestion = 512
    /// A route starts no new push while more than this many of its publications were not taken.
    static let routeCongestion = 64
    /// The main channel is reopened at once only if it lasted this long.
    static let shortest = Duration.seconds(1)
    /// How long results may be unable to go out, of one route or of all, before jobs that were not sent are handed
    /// back.
    static let heldUpLimit = Duration.seconds(30)

    private var waiting = Deque<Publication>()
    private var waitingReplies = Deque<Publication>()
    /// How many replies of each route have no fate yet.
    private var openReplies: [Int: Int] = [:]
    /// Whether replies may go to the default exchange, as far as the broker has said on this connection.
    private(set) var mayWriteToQueues = true
    /// Whether a reply was abandoned. The broker may still return such a reply.
    private var hasAbandoned = false
    /// When the broker last said that it does not read.
    private var blockedAt = MonotonicTime(nanoseconds: 0)
    /// Publications whose notes the journal has not written yet, in the order of the notes. They are at most as many as
    /// the prefetch allows and go out a moment later, so pushes go on meanwhile.
    private var unnoted = Deque<Publication>()
    /// Publications that no frame of the broker can carry, until their routes are told.
    private var unfit: [Publication] = []
    /// Publications that the broker refused or could not route.
    private var refused = RefusedPublications<Publication>()
    /// Publications that cost the channel, or may.
    private var trials = ChannelTrials<Publication>()
    /// Since when each route has been congested by its own publications, without a pause.
    private var stalledSince: [Int: MonotonicTime] = [:]
    private var patience: ConfirmPatience
    private let heldUpLimit: Duration
    /// Since when `isCongested` has been true, without a pause.
    private var congestedSince: MonotonicTime?
    private var random = SystemRandomNumberGenerator()
    private var main = ConfirmTracker<Publication>()
    private var replies = ConfirmTracker<Publication>()
    private var tried = ConfirmTracker<Publication>()
    private var mainChannel = ConfirmChannel()
    private var repliesChannel = ConfirmChannel()
    private var trialsChannel = ConfirmChannel()
    private let link: () -> BrokerLink?
    private var writer: PublicationWriter
    private let isNoted: (UInt64) -> Bool
    private let fate: (Publication, ConfirmTracker<Publication>.Fate) -> Void

    /// Why the broker closed a publish channel last.
    private var closing = ""
    /// Whether the broker takes any publications while it refuses others.
    private(set) var proof = PublishingProof()
    /// Counts for metrics.
    private(set) var counts = Counts()

    private var mainIsOpen: Bool { mainChannel.isOpen }
    private var repliesAreOpen: Bool { repliesChannel.isOpen }
    private var trialsAreOpen: Bool { trialsChannel.isOpen }

    /// Counts of publications and of their confirms.
    struct Counts {
        /// How many were published, by kind.
        var publications = [4 of Int](repeating: 0)
        /// How they were answered.
        var confirms = [4 of Int](repeating: 0)
    }

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - link: The publish connection of the lane.
    ///   - renderer: Writes a publication as a message.
    ///   - patience: Decides how long a confirm is awaited.
    ///   - heldUpLimit: How long results may be unable to go out before jobs that were not sent are handed back.
    ///   - isNoted: Whether a publication no longer has to wait for the journal's note of this number.
    ///   - fate: Called once per publication that is confirmed or can never be sent, and once per reply.
    init(
        link: @escaping () -> BrokerLink?, renderer: PublicationRenderer, patience: ConfirmPatience = ConfirmPatience(),
        heldUpLimit: Duration = Publisher.heldUpLimit, isNoted: @escaping (UInt64) -> Bool = { _ in true },
        fate: @escaping (Publication, ConfirmTracker<Publication>.Fate) -> Void
    ) {
        self.link = link
        writer = PublicationWriter(renderer)
        self.patience = patience
        self.heldUpLimit = heldUpLimit
        self.isNoted = isNoted
        self.fate = fate
    }

    /// Publications that wait for room in the session's output buffer, oldest first. Not needed to process a job.
    var unsent: [Publication] { Array(waiting) }

    /// Whether a result of a refused job of this route may be queued. The limit is lower than that for pushes, so that
    /// refusals do not hold pushes up.
    func takesRefusals(of route: Int, withReply wantsReply: Bool) -> Bool {
        let replies = wantsReply ? waitingReplies.count : 0
        return !isAway && !isStalled(route) && waiting.count + replies < Self.congestion / 2
    }
    /// Whether so many publications wait that no new push should start.
    var isCongested: Bool { isAway || waiting.count > Self.congestion }
    /// Whether the route should start no new push, because too many publications wait, or too many of its own were not
    /// taken.
    func isCongested(for route: Int) -> Bool {
        // Waiting replies hold up only routes that want replies, and only while replies can go out.
        isCongested || isStalled(route)
            || waitingReplies.count > Self.congestion && repliesAreOpen && openReplies[route] != nil
    }
    /// A channel that is just reopened is back in a moment.
    private var isAway: Bool { !mainIsOpen && !mainChannel.isReopening }
    private func isStalled(_ route: Int) -> Bool { !isTroubleFree && stalled(route) > Self.routeCongestion }
    private var isTroubleFree: Bool { refused.isEmpty && trials.isEmpty }
    /// How many publications of a route the broker did not take.
    private func stalled(_ route: Int) -> Int { refused.count(of: route) + trials.count(of: route) }

    /// Whether results could not go out for so long that another worker should get the jobs that were not sent.
    func isHeldUp(now: MonotonicTime) -> Bool {
        congestedSince.map { now >= $0 + heldUpLimit } ?? false
    }
    /// When a route that is congested by its own publications counts as held up; nil while it is not congested.
    func heldUpAt(_ route: Int) -> MonotonicTime? {
        stalledSince.isEmpty ? nil : stalledSince[route].map { $0 + heldUpLimit }
    }

    /// Why a route's publications do not go through, for readiness, such as `results_full`; nil if they do.
    func trouble(of route: Int) -> String? {
        refused.trouble(of: route) ?? (trials.count(of: route) > 0 ? closing : nil)
    }
    /// Why no publication goes through; nil if some may.
    var trouble: String? { link()?.session != nil && !mainIsOpen && !closing.isEmpty ? closing : nil }

    /// Whether nothing is left to publish or to be confirmed.
    var isIdle: Bool {
        waiting.isEmpty && waitingReplies.isEmpty && isTroubleFree && unnoted.isEmpty && unconfirmed == 0
    }
    /// How many publications wait for the journal.
    var unnotedCount: Int { unnoted.count }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { main.unconfirmed + replies.unconfirmed + tried.unconfirmed }
    /// Whether publications wait that could go out if there were room.
    var wantsRoom: Bool {
        (mainIsOpen && !waiting.isEmpty && Self.hasRoom(main))
            || (trialsAreOpen && trials.hasNext)
            || (repliesAreOpen && !waitingReplies.isEmpty && Self.hasRoom(replies))
    }
    private static func hasRoom(_ tracker: borrowing ConfirmTracker<Publication>) -> Bool {
        tracker.unconfirmed < window && tracker.span < span
    }
    /// Since when the broker has owed its oldest answer: a confirm, or an open channel.
    private var oldestDebt: MonotonicTime? {
        let debts: [5 of MonotonicTime?] = [
            main.oldest, tried.oldest, mainChannel.awaitedSince, repliesChannel.awaitedSince,
            trialsChannel.awaitedSince,
        ]
        return MonotonicTime.earliest(of: debts)
    }
    /// Whether results can go out, the broker's flow control aside.
    var isOpen: Bool { mainIsOpen }
    /// When `publish(now:)` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        guard link()?.session != nil else { return nil }
        let due: [6 of MonotonicTime?] = [
            refused.nextDue, mainChannel.dueAt, repliesChannel.dueAt, trials.isEmpty ? nil : trialsChannel.dueAt,
            replies.oldest.map { max($0, blockedAt) + patience.usual }, patience.due(oldest: oldestDebt),
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// Learns which route has a position on the lane from now on.
    ///
    /// - Parameters:
    ///   - name: Its name; nil for the route that answers jobs nobody claims.
    ///   - position: The position, at most one behind the last.
    func setRoute(_ name: String?, at position: Int) { writer.renderer.setRoute(name, at: position) }

    /// Takes a publication. It goes out at the end of this turn, or of the turn in which its note is written.
    func enqueue(_ publication: Publication) {
        if let note = publication.note, !isNoted(note) {
            unnoted.append(publication)
        } else {
            line(up: publication)
        }
    }

    private func line(up publication: Publication) {
        if case .reply = publication.content {
            openReplies[publication.route, default: 0] += 1
            waitingReplies.append(publication)
        } else if !trials.takes(publication), !refused.takes(publication) {
            waiting.append(publication)
        }
    }

    /// Publishes what there is room for.
    func publish(now: MonotonicTime) {
        while let note = unnoted.first?.note, isNoted(note) { line(up: unnoted.removeFirst()) }
        for publication in refused.due(now: now) where !trials.takes(publication) { waiting.append(publication) }
        congestedSince = isCongested ? congestedSince ?? now : nil
        noteStalled(now: now)
        guard let session = link()?.session, keepsPatience(session, now: now) else { return }
        abandonReplies(session, now: now)
        reopenChannels(session, now: now)
        guard wantsRoom, !session.isBlocked else { return }
        do throws(AMQPError) {
            // A publication that is given up may be replaced by results, which go out with the others.
            repeat { try publish(session, now: now) } while giveUpUnfit()
        } catch {
            _ = giveUpUnfit()
            link()?.failed(error, now: now)
        }
    }

    private func publish(_ session: AMQPSession, now: MonotonicTime) throws(AMQPError) {
        if mainIsOpen { try send(&waiting, on: Self.mainChannel, tracking: &main, session, now) }
        if repliesAreOpen { try send(&waitingReplies, on: Self.replyChannel, tracking: &replies, session, now) }
        if trialsAreOpen, trials.hasNext {
            var batch = Deque(trials.next())
            defer { if !batch.isEmpty { trials.putBack(Array(batch)) } }
            try send(&batch, on: Self.trialChannel, tracking: &tried, session, now)
        }
    }

    /// Gives up a connection on which confirms do not come, or channels do not open.
    ///
    /// - Returns: Whether the connection is still there.
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
        _ session: AMQPSession, _ now: MonotonicTime
    ) throws(AMQPError) {
        while Self.hasRoom(tracker), let publication = queue.first {
            switch try writer.write(publication, on: channel, of: session) {
            case .noRoom: return
            case .unfit:
                unfit.append(queue.removeFirst())
                continue
            case .written: queue.removeFirst()
            }
            counts.publications[publication.kind.rawValue] += 1
            tracker.published(publication, mark: writer.renderer.mark(of: publication), now: now)
        }
    }
}

extension Publisher {
    /// Tells the routes of publications that no frame of the broker can carry.
    ///
    /// - Returns: Whether there were any.
    private func giveUpUnfit() -> Bool {
        let given = unfit
        unfit.removeAll()
        for publication in given {
            trials.gaveUp(publication)
            refused.gaveUp(publication)
            fate(publication, .unfit)
        }
        return !given.isEmpty
    }
}

// MARK: The publish connection's events

extension Publisher {
    /// The publish connection is there. Its channels are opened in confirm mode, the one for tries only when there is
    /// something to try.
    func connectionOpened() {
        mayWriteToQueues = true
        mainChannel.connected()
        repliesChannel.connected()
        trialsChannel.connected()
    }

    /// The publish connection is gone. Everything unconfirmed is published again, as the same messages, in order.
    func connectionLost() {
        counts.confirms[LaneCounters.Confirm.lost.rawValue] += unconfirmed
        let lost = lose(&main)
        refused.lost(lost)
        waiting.prepend(contentsOf: lost.filter { !$0.isInLine && !trials.takes($0) })
        _ = lose(&tried)
        trials.putBack()
        waitingReplies.prepend(contentsOf: replies.channelLost())
        mainChannel.lost()
        repliesChannel.lost()
        trialsChannel.lost()
    }

    /// Takes what was unconfirmed on a channel that is gone. The broker may have it, and then gets it twice.
    private func lose(_ tracker: inout ConfirmTracker<Publication>) -> [Publication] {
        let lost = tracker.channelLost()
        for publication in lost { publication.isRepublished = true }
        return lost
    }

    private func reopenChannels(_ session: AMQPSession, now: MonotonicTime) {
        do throws(AMQPError) {
            if mainChannel.begins(now: now) { try session.openChannel(Self.mainChannel) }
            if repliesChannel.begins(now: now) { try session.openChannel(Self.replyChannel) }
            guard !trials.isEmpty else { return }
            if trials.isUrgent { trialsChannel.hurry() }
            if trialsChannel.begins(now: now) { try session.openChannel(Self.trialChannel) }
        } catch {
            link()?.failed(error, now: now)
        }
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
        switch channel {
        case Self.mainChannel: mainChannel.opened()
        case Self.replyChannel: repliesChannel.opened()
        default: trialsChannel.opened()
        }
    }

    /// The broker closed a channel, for instance because an exchange is missing (404). The channel is opened again.
    func channelClosed(_ channel: UInt16, code: UInt16, text: String, now: MonotonicTime) {
        switch channel {
        case Self.mainChannel:
            // Publications that may have cost the channel are tried elsewhere, so the channel can reopen at once.
            mainChannel.closed(now: now, lasting: Self.shortest, random: &random)
            counts.confirms[LaneCounters.Confirm.lost.rawValue] += main.unconfirmed
            hold(lose(&main))
        case Self.trialChannel:
            trialsChannel.closed(now: now, random: &random)
            counts.confirms[LaneCounters.Confirm.lost.rawValue] += tried.unconfirmed
            _ = lose(&tried)
            trials.failed()
            holdWaiting()
        default:
            repliesChannel.closed(now: now, random: &random)
            counts.confirms[LaneCounters.Confirm.lost.rawValue] += replies.unconfirmed
            let isOverQueues = code == 403 && text.contains("amq.default")
            if isOverQueues { mayWriteToQueues = false }
            let lost = replies.channelLost() + waitingReplies
            // Retrying replies might close the channel again and again. They count as returned instead, but for those
            // that were not to blame.
            waitingReplies = Deque(isOverQueues ? lost.filter { !$0.isReplyToQueue } : [])
            for lost in lost where !isOverQueues || lost.isReplyToQueue {
                replied(lost, lost.isReplyToQueue && !isOverQueues ? .abandoned : .returned)
            }
            return
        }
        closing = "the broker closed the publish channel: \(code) \(text)"
    }

    /// Has the lost publications tried, and holds back waiting ones for the same exchanges.
    private func hold(_ lost: [Publication]) {
        trials.channelClosed(lost)
        holdWaiting()
    }

    private func holdWaiting() {
        waiting.removeAll { trials.takes($0) }
    }

    /// A message came back because nothing is bound for it; its confirm follows.
    func returned(channel: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>) {
        let renderer = writer.renderer
        func isIt(_ publication: Publication) -> Bool {
            renderer.isSame(publication, messageID: messageID, exchange: exchange, routingKey: routingKey)
        }
        let isKnown =
            switch channel {
            case Self.mainChannel: main.returned(where: isIt)
            case Self.replyChannel: replies.returned(where: isIt)
            default: tried.returned(where: isIt)
            }
        // Its confirm would pass for success. A new connection publishes everything unconfirmed again.
        if !isKnown, channel != Self.replyChannel || !hasAbandoned {
            link()?.distrust("the broker returned a message that waits for no confirm")
        }
    }

    /// The broker confirmed or refused publications.
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool, now: MonotonicTime) {
        // It may be the confirm of a returned message that was not recognised.
        guard link()?.isDistrusted != true else { return }
        switch channel {
        case Self.mainChannel:
            _ = main.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
                settled(publication, fate, now: now)
            }
        case Self.trialChannel:
            _ = tried.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
                for released in trials.succeeded(publication) where released.isInLine || !refused.takes(released) {
                    waiting.append(released)
                }
                settled(publication, fate, now: now)
            }
        default:
            _ = replies.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
                count(fate)
                replied(publication, fate)
            }
        }
    }

    private func replied(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate) {
        openReplies[publication.route] = openReplies[publication.route].flatMap { $0 == 1 ? nil : $0 - 1 }
        self.fate(publication, fate)
    }

    /// Gives up replies that the broker neither confirms nor refuses. Only their exchange is in trouble, so the
    /// connection stays.
    private func abandonReplies(_ session: AMQPSession, now: MonotonicTime) {
        if session.isBlocked { blockedAt = now }
        guard let oldest = replies.oldest, now >= max(oldest, blockedAt) + patience.usual else { return }
        hasAbandoned = true
        var abandoned: [Publication] = []
        replies.abandon(after: patience.usual, now: now) { abandoned.append($0) }
        for publication in abandoned {
            count(.abandoned)
            replied(publication, .abandoned)
        }
    }

    private func count(_ fate: ConfirmTracker<Publication>.Fate) {
        let confirm: LaneCounters.Confirm =
            switch fate {
            case .confirmed: .ack
            case .returned, .perhapsReturned: .returned
            case .refused: .nack
            case .abandoned, .unfit: .lost
            }
        counts.confirms[confirm.rawValue] += 1
    }

    private func settled(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        count(fate)
        let route = publication.route
        if fate == .confirmed {
            refused.confirmed(publication)
            proof.confirmed(route, isStalled: !isTroubleFree && stalled(route) > 0, now: now)
            self.fate(publication, fate)
        } else {
            proof.refused(route, now: now)
            // Some of several bound queues may have taken it.
            if fate != .returned { publication.isRepublished = true }
            refused.refused(publication, trouble: publication.trouble(after: fate), now: now, random: &random)
            holdRefused(publication)
        }
    }

    /// Moves waiting publications into the line of a refused one, because they would be refused, too.
    private func holdRefused(_ publication: Publication) {
        waiting.removeAll { !$0.isInLine && refused.takes($0) }
    }

    /// Notes since when each route has had too many publications that were not taken.
    private func noteStalled(now: MonotonicTime) {
        proof.passTime(isTroubleFree: isTroubleFree, now: now)
        if isTroubleFree { return stalledSince.removeAll() }
        // The broker may take a route's last ones all at once.
        stalledSince = stalledSince.filter { isStalled($0.key) }
        for route in refused.routes.union(trials.routes) where isStalled(route) && stalledSince[route] == nil {
            stalledSince[route] = now
        }
    }
}
