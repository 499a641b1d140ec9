import DequeModule
import EventLoop
import PushModel
import RabbitMQ

/// Publishes results, replies, retry copies and dead letters, and learns what became of each.
///
/// Publications without room in the session's output buffer wait with their channel. A publication that the broker did
/// not take is published again as the same message. It is never dropped.
///
/// - Refused and unroutable publications wait in a line of their route (`RefusedPublications`).
/// - Publications that cost the channel are tried on another channel (`ChannelTrials`).
/// - A route whose publications are not confirmed leaves room to the others (`PublishWindow`).
/// - Publications that are not confirmed for long count as refused. They go out again on the slow channel, at first one
///   at a time per line.
/// - While publications of a route that were not taken pile up, the route starts no new pushes (`isCongested(for:)`).
final class Publisher {
    /// No new push starts while more publications than this wait for room.
    static let congestion = 512
    /// A route starts no new push while more than this many of its publications were not taken.
    static let routeCongestion = 64
    /// The main channel is reopened at once only if it lasted this long.
    static let shortest = Duration.seconds(1)
    /// How long results of one route or of all may be held up before jobs that were not sent are handed back.
    static let heldUpLimit = Duration.seconds(30)

    /// The channels of the publish connection.
    let channels = PublishChannels()
    /// Replies without a fate.
    var openReplies = OpenReplies()
    /// Publications whose notes the journal has not written yet.
    private var unnoted: UnnotedPublications
    /// Publications that no frame of the broker can carry, until their routes are told.
    private var unfit: [Publication] = []
    /// Publications that the broker refused or could not route.
    private var refused = RefusedPublications<Publication>()
    /// Publications that cost the channel, or may.
    var trials = ChannelTrials<Publication>()
    /// The holding tiers that the broker lacks.
    var missing: MissingTiers
    /// Decides how long the broker's answers are awaited.
    var patience: AnswerPatience
    /// Since when results could not go out.
    private var heldUp: HeldUpResults
    private var random: Randomness
    /// The publish connection of the lane.
    let link: () -> BrokerLink?
    /// Writes the messages.
    var writer: PublicationWriter
    private let fate: (Publication, ConfirmTracker<Publication>.Fate) -> Void

    /// Why the broker closed a publish channel last.
    private var closing = ""
    /// Whether the broker takes any publications while it refuses others.
    private(set) var proof = PublishingProof()
    /// Counts for metrics.
    var counts = PublisherCounts()

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - link: The publish connection of the lane.
    ///   - renderer: Writes a publication as a message.
    ///   - policy: Says which tiers are holding tiers; nil where copies for a missing tier wait until it is there.
    ///   - patience: Decides how long a confirm is awaited.
    ///   - heldUpLimit: How long results may be unable to go out before jobs that were not sent are handed back.
    ///   - random: Spreads its attempts.
    ///   - isNoted: Whether a publication no longer has to wait for the journal's note of this number.
    ///   - fate: Called once per publication that is confirmed or can never be sent, once per copy that a full holding
    ///     tier refuses, and once per reply.
    init(
        link: @escaping () -> BrokerLink?, renderer: PublicationRenderer, policy: RetryPolicy? = nil,
        patience: ConfirmPatience = ConfirmPatience(), heldUpLimit: Duration = Publisher.heldUpLimit,
        random: Randomness = Randomness(), isNoted: @escaping (UInt64) -> Bool = { _ in true },
        fate: @escaping (Publication, ConfirmTracker<Publication>.Fate) -> Void
    ) {
        self.link = link
        writer = PublicationWriter(renderer)
        missing = MissingTiers(policy)
        self.patience = AnswerPatience(patience)
        heldUp = HeldUpResults(limit: heldUpLimit)
        unnoted = UnnotedPublications(isNoted: isNoted)
        self.fate = fate
        self.random = random
    }

    /// Publications that wait on the main channel for room in the session's output buffer, oldest first. For tests.
    var unsent: [Publication] { Array(channels.main.waiting) }

    /// Whether a result of a refused job of this route may be queued. The limit is lower than that for pushes, so that
    /// refusals do not hold pushes up.
    func takesRefusals(of route: Int, withReply wantsReply: Bool) -> Bool {
        let replies = wantsReply ? channels.replies.waiting.count : 0
        return !isAway && !isStalled(route) && channels.main.waiting.count + replies < Self.congestion / 2
    }
    /// Whether no new push should start: too many publications wait, or the main channel is closed for some time.
    var isCongested: Bool { isAway || channels.main.waiting.count > Self.congestion }
    /// Whether the route should start no new push: `isCongested` is true, too many publications of the route do not get
    /// through, or too many replies wait.
    func isCongested(for route: Int) -> Bool {
        // Waiting replies hold up only routes that want replies, and only while replies can go out.
        isCongested || isStalled(route)
            || channels.replies.waiting.count > Self.congestion && channels.replies.isOpen && openReplies.has(of: route)
            || channels.replies.crowded(route) > Self.congestion && channels.replies.isOpen
    }
    /// Whether the main channel is closed for some time. A channel that is reopened at once is open again soon.
    private var isAway: Bool { !channels.main.isOpen && !channels.main.state.isReopening }
    private func isStalled(_ route: Int) -> Bool {
        !isTroubleFree && stalled(route) > Self.routeCongestion || channels.main.crowded(route) > Self.routeCongestion
    }
    private var isTroubleFree: Bool { refused.isEmpty && trials.isEmpty }
    /// The routes that have too many publications which were not taken, by position.
    private var stalledRoutes: Set<Int> {
        if isTroubleFree, !channels.main.isCrowded { return [] }
        return refused.routes.union(trials.routes).union(channels.main.crowdedRoutes).filter(isStalled)
    }
    /// How many publications of a route the broker did not take.
    private func stalled(_ route: Int) -> Int { refused.count(of: route) + trials.count(of: route) }

    /// Whether results could not go out for so long that another worker should get the jobs that were not sent.
    func isHeldUp(now: MonotonicTime) -> Bool { heldUp.areAll(now: now) }
    /// When a route that is congested by its own publications counts as held up; nil while it is not congested.
    func heldUpAt(_ route: Int) -> MonotonicTime? { heldUp.dueAt(route) }

    /// Whether replies may go to the default exchange, as far as the broker has said on this connection.
    var mayWriteToQueues: Bool { openReplies.mayWriteToQueues }

    /// Why a route's publications do not go through, for readiness, such as `results_full`; nil if they do.
    func trouble(of route: Int) -> String? {
        refused.trouble(of: route) ?? (trials.count(of: route) > 0 ? closing : nil)
    }
    /// Why no publication goes through; nil if some may.
    var trouble: String? { link()?.session != nil && !channels.main.isOpen && !closing.isEmpty ? closing : nil }

    /// Whether nothing is left to publish or to be confirmed.
    var isIdle: Bool { channels.isIdle && isTroubleFree && unnoted.count == 0 }
    /// How many publications wait for the journal.
    var unnotedCount: Int { unnoted.count }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { channels.unconfirmed }
    /// Whether publications wait that could go out if there were room.
    var wantsRoom: Bool {
        channels.main.wantsRoom || channels.replies.wantsRoom || channels.slow.wantsRoom
            || channels.tried.isOpen && trials.hasNext
    }
    /// Whether the main channel is open, so that results can go out. The broker's flow control does not count.
    var isOpen: Bool { channels.main.isOpen }
    /// When `publish(now:)` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        guard link()?.session != nil else { return nil }
        let due: [3 of MonotonicTime?] = [
            refused.nextDue, channels.due(hasTries: !trials.isEmpty), patience.due(channels.debts),
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// Takes a publication. It goes out at the end of this turn, or of the turn in which its note is written.
    func enqueue(_ publication: Publication) {
        if !unnoted.takes(publication) { line(up: publication) }
    }

    private func line(up publication: Publication) {
        if publication.isReply {
            openReplies.began(of: publication.route)
            channels.replies.waiting.append(publication)
        } else {
            wait(publication)
        }
    }

    /// Lets a publication go out, or wait with others that the broker did not take.
    func wait(_ publication: Publication) {
        guard !trials.takes(publication), publication.isInLine || !refused.takes(publication) else { return }
        (refused.isUnconfirmed(publication) ? channels.slow : channels.main).waiting.append(publication)
    }

    /// Publishes the publications that are due, as far as there is room.
    func publish(now: MonotonicTime) {
        missing.passTime(now: now)
        while let publication = unnoted.next() { line(up: publication) }
        takeDue(now: now)
        giveUpRestingReplies(now: now)
        heldUp.note(isCongested: isCongested, stalled: stalledRoutes, now: now)
        proof.passTime(isTroubleFree: isTroubleFree, now: now)
        let number = channels.slow.number
        guard let session = link()?.session, keepsPatience(session, now: now) else { return }
        // The publications behind a blocked one go out first on the next channel.
        if channels.slow.number != number { takeDue(now: now) }
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

    private func takeDue(now: MonotonicTime) {
        for publication in refused.due(now: now) where !trials.takes(publication) {
            (refused.isUnconfirmed(publication) ? channels.slow : channels.main).waiting.append(publication)
        }
    }

    private func publish(_ session: AMQPSession, now: MonotonicTime) throws(AMQPError) {
        try send(channels.main, session, now)
        try send(channels.replies, session, now)
        try send(channels.slow, session, now)
        guard channels.tried.isOpen, trials.hasNext else { return }
        channels.tried.waiting = Deque(trials.next())
        defer {
            if !channels.tried.waiting.isEmpty { trials.putBack(Array(channels.tried.waiting)) }
            channels.tried.waiting = []
        }
        // No batch is larger than `PublishWindow.mostOfOne`, so nothing waits for a place.
        try send(channels.tried, session, now)
    }

    private func send(_ channel: PublishChannel, _ session: AMQPSession, _ now: MonotonicTime) throws(AMQPError) {
        try channel.send(on: session, with: &writer, now: now) { publication, outcome in
            if outcome == .unfit {
                unfit.append(publication)
            } else {
                counts.publications[publication.kind.rawValue] += 1
            }
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
    /// The publish connection is there. Its channels are opened in confirm mode.
    func connectionOpened() {
        openReplies.connectionOpened()
        missing.forget()
        channels.connected()
    }

    /// The publish connection is gone. Everything unconfirmed is published again, as the same messages, in order.
    func connectionLost() {
        counts.lost(unconfirmed)
        let lost = lose(channels.main)
        refused.lost(lost)
        channels.main.waiting.prepend(contentsOf: lost.filter { !$0.isInLine })
        sortWaiting()
        // Publications that were not written, and whose line now belongs on the slow channel, go back into that line.
        var back: [Publication] = []
        channels.main.removeWaiting { publication in
            guard refused.isUnconfirmed(publication) else { return false }
            back.append(publication)
            return true
        }
        refused.lost(back)
        loseSlow()
        _ = lose(channels.tried)
        trials.putBack()
        channels.replies.waiting.prepend(contentsOf: channels.replies.lose())
        patience.connectionLost()
        channels.lost()
        openReplies.connectionLost()
    }

    /// Takes the unconfirmed publications of a channel that is gone. The broker may have them, and then gets them
    /// twice.
    private func lose(_ channel: PublishChannel) -> [Publication] {
        let lost = channel.lose()
        for publication in lost { publication.isRepublished = true }
        return lost
    }

    /// Puts the publications of the slow channel back into their lines.
    ///
    /// - Parameter given: Publications of the slow channel that were taken from it before, and are no longer waited
    ///   for.
    func loseSlow(_ given: [Publication] = []) {
        for publication in given { publication.isRepublished = true }
        counts.lost(given.count)
        refused.lost(given + lose(channels.slow) + channels.slow.waiting)
        channels.slow.waiting = []
    }

    private func reopenChannels(_ session: AMQPSession, now: MonotonicTime) {
        do throws(AMQPError) {
            if trials.isUrgent { channels.tried.state.hurry() }
            try channels.open(on: session, hasTries: !trials.isEmpty, now: now)
        } catch {
            link()?.failed(error, now: now)
        }
    }

    /// A channel is open: ask for confirms on it.
    func channelOpened(_ channel: UInt16, now: MonotonicTime) {
        guard channels[channel] != nil else { return }
        do throws(AMQPError) {
            try link()?.session?.selectConfirms(channel)
        } catch {
            link()?.distrust(error.message)
        }
    }

    /// Confirms are on: the channel can be published to.
    func confirmsSelected(_ channel: UInt16) {
        channels[channel]?.state.opened()
    }

    /// Whether a channel is in use, and not a slow one that was replaced.
    func uses(_ channel: UInt16) -> Bool { channels[channel] != nil }

    /// The broker closed a channel, for instance because an exchange is missing (404). The channel is opened again.
    func channelClosed(_ channel: UInt16, code: UInt16, text: String, now: MonotonicTime) {
        counts.lost(channels[channel]?.unconfirmed ?? 0)
        switch channel {
        case channels.main.number:
            // Publications that may have cost the channel are tried elsewhere, so the channel can reopen at once.
            channels.main.state.closed(now: now, lasting: Self.shortest, random: &random)
            hold(lose(channels.main), now: now)
        case channels.slow.number:
            channels.slow.state.closed(now: now, random: &random)
            let lost = lose(channels.slow)
            loseSlow()
            hold(lost, now: now)
        case channels.tried.number:
            channels.tried.state.closed(now: now, random: &random)
            _ = lose(channels.tried)
            trials.failed()
            redirectMissing(now: now)
            sortWaiting()
        case channels.replies.number:
            channels.replies.state.closed(now: now, random: &random)
            let isOverQueues = openReplies.channelClosed(code: code, text: text)
            let lost = channels.replies.lose() + channels.replies.waiting
            // A reply that closed the channel might close it again and again. If the default exchange is forbidden,
            // replies to queues count as returned, and the others go out again. After any other closing, replies to the
            // exchange count as returned. Those to queues count as abandoned then, because the broker may have taken
            // them.
            channels.replies.waiting = Deque(isOverQueues ? lost.filter { !$0.isReplyToQueue } : [])
            for lost in lost where !isOverQueues || lost.isReplyToQueue {
                replied(lost, lost.isReplyToQueue && !isOverQueues ? .abandoned : .returned)
            }
            return
        default: return
        }
        closing = "the broker closed the publish channel: \(code) \(text)"
    }

    /// Has the lost publications tried, and holds back waiting ones for the same exchanges.
    private func hold(_ lost: [Publication], now: MonotonicTime) {
        trials.channelClosed(lost)
        redirectMissing(now: now)
        sortWaiting()
    }

    /// Moves waiting publications to the others of their exchange that wait for a try, or into their line, if it has
    /// formed.
    private func sortWaiting() {
        channels.main.removeWaiting { trials.takes($0) || !$0.isInLine && refused.takes($0) }
    }

    /// A message came back because nothing is bound for it; its confirm follows.
    func returned(channel: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>) {
        let renderer = writer.renderer
        guard let used = channels[channel] else { return }
        let isKnown = used.returned { publication in
            renderer.isSame(publication, messageID: messageID, exchange: exchange, routingKey: routingKey)
        }
        // The confirm of the returned message would count as success. A new connection publishes everything unconfirmed
        // again.
        if !isKnown, channel != channels.replies.number || !openReplies.hasAbandoned {
            link()?.distrust("the broker returned a message that waits for no confirm")
        }
    }

    /// The broker confirmed or refused publications.
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool, now: MonotonicTime) {
        // It may be the confirm of a returned message that was not recognised.
        guard link()?.isDistrusted != true else { return }
        channels[channel]?.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
            switch channel {
            case channels.replies.number:
                counts.note(fate)
                replied(publication, fate)
            case channels.tried.number: triedOut(publication, fate, now: now)
            default: settled(publication, fate, now: now)
            }
        }
    }

    /// The broker answered a tried publication, or only its queue does not confirm. Its exchange exists in both cases.
    func triedOut(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        for released in trials.succeeded(publication) { wait(released) }
        settled(publication, fate, now: now)
    }

    /// A reply has met its fate.
    func replied(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate) {
        openReplies.ended(of: publication.route)
        self.fate(publication, fate)
    }

    /// A publication other than a reply has met its fate. One that the broker did not take goes into its line, but for a
    /// copy that a full holding tier refused: all apps share the tier, so it may be full for long, and the route goes on.
    func settled(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        counts.note(fate)
        let route = publication.route
        if fate == .confirmed {
            refused.confirmed(publication)
            proof.confirmed(route, isStalled: !isTroubleFree && stalled(route) > 0, now: now)
            self.fate(publication, fate)
        } else if fate == .refused, missing.holds(publication) {
            refused.gaveUp(publication)
            self.fate(publication, fate)
        } else {
            proof.refused(route, now: now)
            // Some of several bound queues may have taken it.
            if fate != .returned { publication.isRepublished = true }
            refused.refused(
                publication, trouble: publication.trouble(after: fate), isUnconfirmed: fate == .abandoned, now: now,
                random: &random)
            // Waiting publications of the same line would be refused, too.
            sortWaiting()
        }
    }
}
