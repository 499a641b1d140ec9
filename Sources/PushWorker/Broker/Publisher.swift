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
/// - Publications that are not confirmed for long count as refused, and go out one at a time on the slow channel.
/// - While such publications of a route pile up, the route starts no new pushes (`isCongested(for:)`).
final class Publisher {
    /// How many channels the publish connection needs at least.
    static let channels: UInt16 = 4
    /// Most unconfirmed publications on one channel.
    static let window = 4_000
    /// Most unconfirmed publications on the slow channel: fewer than the 32 for one queue at which RabbitMQ stops.
    static let slowWindow = 24
    /// So many slow channels may stand still on one connection.
    static let mostSlow: UInt16 = 60
    /// How long a publication may be unconfirmed while this many later ones are confirmed. Its queue is in trouble then,
    /// and the broker is not.
    static let overtaking = (most: 32, patience: Duration.seconds(2))
    /// No new push starts while more publications than this wait for room.
    static let congestion = 512
    /// A route starts no new push while more than this many of its publications were not taken.
    static let routeCongestion = 64
    /// The main channel is reopened at once only if it lasted this long.
    static let shortest = Duration.seconds(1)
    /// How long results of one route or of all may be held up before jobs that were not sent are handed back.
    static let heldUpLimit = Duration.seconds(30)

    /// For everything that the others are not for.
    let main = PublishChannel(1, window: window)
    /// For replies, so that a broken `apns.replies` hurts replies alone.
    let replies = PublishChannel(2, window: window)
    /// For publications that may cost the channel.
    let tried = PublishChannel(3, window: window)
    /// For routes whose publications were long unconfirmed: RabbitMQ may wait for a queue before it looks at the
    /// channel's next message. The channel is replaced when it stalls.
    let slow = PublishChannel(channels, window: slowWindow)

    /// How many replies of each route have no fate yet.
    private var openReplies: [Int: Int] = [:]
    /// Whether replies may go to the default exchange, as far as the broker has said on this connection.
    private(set) var mayWriteToQueues = true
    /// Whether a reply was abandoned. The broker may still return it.
    var hasAbandoned = false
    /// When the broker last said that it does not read.
    var blockedAt = MonotonicTime(nanoseconds: 0)
    /// Publications whose notes the journal has not written yet, in the order of the notes. They are at most as many as
    /// the prefetch allows and go out a moment later, so pushes go on meanwhile.
    private var unnoted = Deque<Publication>()
    /// Publications that no frame of the broker can carry, until their routes are told.
    private var unfit: [Publication] = []
    /// Publications that the broker refused or could not route.
    private var refused = RefusedPublications<Publication>()
    /// Publications that cost the channel, or may.
    var trials = ChannelTrials<Publication>()
    /// The positions of holding tiers that the broker lacks, as far as it has said on this connection.
    var missingTiers: Set<Int> = []
    /// Says which tiers are holding tiers; nil where copies for a missing tier wait until it is there.
    var policy: RetryPolicy?
    /// Since when each route has been congested by its own publications, without a pause.
    private var stalledSince: [Int: MonotonicTime] = [:]
    /// Decides how long a confirm is awaited.
    var patience: ConfirmPatience
    /// The same for publications that answered ones overtake.
    var overtakingPatience: ConfirmPatience
    /// Publications that answered ones overtook; nil without any.
    var overtaken: Overtaken?
    /// The same patience for the slow channel. It does not grow as much, because only a new channel may help.
    var slowPatience: ConfirmPatience
    private let heldUpLimit: Duration
    /// Since when `isCongested` has been true, without a pause.
    private var congestedSince: MonotonicTime?
    private var random = SystemRandomNumberGenerator()
    /// The publish connection of the lane.
    let link: () -> BrokerLink?
    /// Writes the messages.
    var writer: PublicationWriter
    private let isNoted: (UInt64) -> Bool
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
        overtakingPatience = ConfirmPatience(
            usual: min(patience.usual, Self.overtaking.patience), mostDoublings: 2)
        slowPatience = ConfirmPatience(usual: patience.usual, mostDoublings: 2)
        self.heldUpLimit = heldUpLimit
        self.isNoted = isNoted
        self.fate = fate
    }

    private var all: [4 of PublishChannel] { [main, replies, tried, slow] }

    /// Publications that wait for room in the session's output buffer, oldest first. Not needed to process a job.
    var unsent: [Publication] { Array(main.waiting) }

    /// Whether a result of a refused job of this route may be queued. The limit is lower than that for pushes, so that
    /// refusals do not hold pushes up.
    func takesRefusals(of route: Int, withReply wantsReply: Bool) -> Bool {
        let replies = wantsReply ? replies.waiting.count : 0
        return !isAway && !isStalled(route) && main.waiting.count + replies < Self.congestion / 2
    }
    /// Whether so many publications wait that no new push should start.
    var isCongested: Bool { isAway || main.waiting.count > Self.congestion }
    /// Whether the route should start no new push, because too many publications wait, or too many of its own were not
    /// taken.
    func isCongested(for route: Int) -> Bool {
        // Waiting replies hold up only routes that want replies, and only while replies can go out.
        isCongested || isStalled(route)
            || replies.waiting.count > Self.congestion && replies.isOpen && openReplies[route] != nil
            || replies.crowded(route) > Self.congestion && replies.isOpen
    }
    /// A channel that is just reopened is back in a moment.
    private var isAway: Bool { !main.isOpen && !main.state.isReopening }
    private func isStalled(_ route: Int) -> Bool {
        !isTroubleFree && stalled(route) > Self.routeCongestion || main.crowded(route) > Self.routeCongestion
    }
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
    var trouble: String? { link()?.session != nil && !main.isOpen && !closing.isEmpty ? closing : nil }

    /// Whether nothing is left to publish or to be confirmed.
    var isIdle: Bool {
        main.isIdle && replies.isIdle && tried.isIdle && slow.isIdle && isTroubleFree && unnoted.isEmpty
    }
    /// How many publications wait for the journal.
    var unnotedCount: Int { unnoted.count }
    /// How many publications wait for their confirm.
    var unconfirmed: Int { main.unconfirmed + replies.unconfirmed + tried.unconfirmed + slow.unconfirmed }
    /// Whether publications wait that could go out if there were room.
    var wantsRoom: Bool { main.wantsRoom || replies.wantsRoom || slow.wantsRoom || tried.isOpen && trials.hasNext }
    /// Whether results can go out, the broker's flow control aside.
    var isOpen: Bool { main.isOpen }
    /// When `publish(now:)` has something to do only because time passed.
    var nextDue: MonotonicTime? {
        guard link()?.session != nil else { return nil }
        let due: [6 of MonotonicTime?] = [
            refused.nextDue, main.state.dueAt, replies.state.dueAt, trials.isEmpty ? nil : tried.state.dueAt,
            slow.waiting.isEmpty ? nil : slow.state.dueAt, answersDue,
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// Takes a publication. It goes out at the end of this turn, or of the turn in which its note is written.
    func enqueue(_ publication: Publication) {
        if let note = publication.note, !isNoted(note) {
            unnoted.append(publication)
        } else {
            line(up: publication)
        }
    }

    private func line(up publication: Publication) {
        if publication.isReply {
            openReplies[publication.route, default: 0] += 1
            replies.waiting.append(publication)
        } else {
            wait(publication)
        }
    }

    /// Lets a publication go out, or wait with others that the broker did not take.
    func wait(_ publication: Publication) {
        guard !trials.takes(publication), publication.isInLine || !refused.takes(publication) else { return }
        (refused.isUnconfirmed(publication) ? slow : main).waiting.append(publication)
    }

    /// Publishes what there is room for.
    func publish(now: MonotonicTime) {
        while let note = unnoted.first?.note, isNoted(note) { line(up: unnoted.removeFirst()) }
        takeDue(now: now)
        congestedSince = isCongested ? congestedSince ?? now : nil
        noteStalled(now: now)
        let number = slow.number
        guard let session = link()?.session, keepsPatience(session, now: now) else { return }
        // The publications behind a blocked one go out first on the next channel.
        if slow.number != number { takeDue(now: now) }
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
            (refused.isUnconfirmed(publication) ? slow : main).waiting.append(publication)
        }
    }

    private func publish(_ session: AMQPSession, now: MonotonicTime) throws(AMQPError) {
        try send(main, session, now)
        try send(replies, session, now)
        try send(slow, session, now)
        guard tried.isOpen, trials.hasNext else { return }
        tried.waiting = Deque(trials.next())
        defer {
            if !tried.waiting.isEmpty { trials.putBack(Array(tried.waiting)) }
            tried.waiting = []
        }
        // No batch is larger than what one route may have out, so nothing waits for a place.
        try send(tried, session, now)
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
    /// The publish connection is there. Its channels are opened in confirm mode, the slow one and the one for tries only
    /// when they are needed.
    func connectionOpened() {
        mayWriteToQueues = true
        missingTiers = []
        for channel in all.indices { all[channel].state.connected() }
    }

    /// The publish connection is gone. Everything unconfirmed is published again, as the same messages, in order.
    func connectionLost() {
        counts.lost(unconfirmed)
        let lost = lose(main)
        refused.lost(lost)
        main.waiting.prepend(contentsOf: lost.filter { !$0.isInLine })
        sortWaiting()
        // Publications of a line that no channel has written go back into the line, if they belong on the slow channel.
        var back: [Publication] = []
        main.removeWaiting { publication in
            guard refused.isUnconfirmed(publication) else { return false }
            back.append(publication)
            return true
        }
        refused.lost(back)
        loseSlow()
        _ = lose(tried)
        trials.putBack()
        replies.waiting.prepend(contentsOf: replies.lose())
        overtaken = nil
        slow.renumber(Self.channels)
        for channel in all.indices { all[channel].state.lost() }
        hasAbandoned = false
    }

    /// Takes what was unconfirmed on a channel that is gone. The broker may have it, and then gets it twice.
    private func lose(_ channel: PublishChannel) -> [Publication] {
        let lost = channel.lose()
        for publication in lost { publication.isRepublished = true }
        return lost
    }

    /// Puts the publications of the slow channel back into their lines.
    ///
    /// - Parameter given: Those that are no longer waited for.
    func loseSlow(_ given: [Publication] = []) {
        for publication in given { publication.isRepublished = true }
        counts.lost(given.count)
        refused.lost(given + lose(slow) + slow.waiting)
        slow.waiting = []
    }

    private func reopenChannels(_ session: AMQPSession, now: MonotonicTime) {
        do throws(AMQPError) {
            if main.state.begins(now: now) { try session.openChannel(main.number) }
            if replies.state.begins(now: now) { try session.openChannel(replies.number) }
            if !slow.waiting.isEmpty, slow.state.begins(now: now) { try session.openChannel(slow.number) }
            guard !trials.isEmpty else { return }
            if trials.isUrgent { tried.state.hurry() }
            if tried.state.begins(now: now) { try session.openChannel(tried.number) }
        } catch {
            link()?.failed(error, now: now)
        }
    }

    /// A channel is open: ask for confirms on it.
    func channelOpened(_ channel: UInt16, now: MonotonicTime) {
        guard self[channel] != nil else { return }
        do throws(AMQPError) {
            try link()?.session?.selectConfirms(channel)
        } catch {
            link()?.distrust(error.message)
        }
    }

    /// Confirms are on: the channel can be published to.
    func confirmsSelected(_ channel: UInt16) {
        self[channel]?.state.opened()
    }

    /// Whether a channel is in use, and not a slow one that was replaced.
    func uses(_ channel: UInt16) -> Bool { self[channel] != nil }

    /// The channel of a number; nil for a slow one that was replaced.
    private subscript(number: UInt16) -> PublishChannel? {
        switch number {
        case main.number: main
        case replies.number: replies
        case tried.number: tried
        case slow.number: slow
        default: nil
        }
    }

    /// The broker closed a channel, for instance because an exchange is missing (404). The channel is opened again.
    func channelClosed(_ channel: UInt16, code: UInt16, text: String, now: MonotonicTime) {
        counts.lost(self[channel]?.unconfirmed ?? 0)
        switch channel {
        case main.number:
            // Publications that may have cost the channel are tried elsewhere, so the channel can reopen at once.
            main.state.closed(now: now, lasting: Self.shortest, random: &random)
            hold(lose(main))
        case slow.number:
            slow.state.closed(now: now, random: &random)
            let lost = lose(slow)
            loseSlow()
            hold(lost)
        case tried.number:
            tried.state.closed(now: now, random: &random)
            _ = lose(tried)
            trials.failed()
            redirectMissing()
            sortWaiting()
        case replies.number:
            replies.state.closed(now: now, random: &random)
            let isOverQueues = code == 403 && text.contains("amq.default")
            if isOverQueues { mayWriteToQueues = false }
            let lost = replies.lose() + replies.waiting
            // Retrying replies might close the channel again and again. They count as returned instead, except
            // those that did not cause the closure.
            replies.waiting = Deque(isOverQueues ? lost.filter { !$0.isReplyToQueue } : [])
            for lost in lost where !isOverQueues || lost.isReplyToQueue {
                replied(lost, lost.isReplyToQueue && !isOverQueues ? .abandoned : .returned)
            }
            return
        default: return
        }
        closing = "the broker closed the publish channel: \(code) \(text)"
    }

    /// Has the lost publications tried, and holds back waiting ones for the same exchanges.
    private func hold(_ lost: [Publication]) {
        trials.channelClosed(lost)
        redirectMissing()
        sortWaiting()
    }

    /// Lets waiting publications join others of their exchange that are tried, or of their line.
    private func sortWaiting() {
        main.removeWaiting { trials.takes($0) || !$0.isInLine && refused.takes($0) }
    }

    /// A message came back because nothing is bound for it; its confirm follows.
    func returned(channel: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>) {
        let renderer = writer.renderer
        guard let used = self[channel] else { return }
        let isKnown = used.returned { publication in
            renderer.isSame(publication, messageID: messageID, exchange: exchange, routingKey: routingKey)
        }
        // The confirm of the returned message would count as success. A new connection publishes everything unconfirmed
        // again.
        if !isKnown, channel != replies.number || !hasAbandoned {
            link()?.distrust("the broker returned a message that waits for no confirm")
        }
    }

    /// The broker confirmed or refused publications.
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool, now: MonotonicTime) {
        // It may be the confirm of a returned message that was not recognised.
        guard link()?.isDistrusted != true else { return }
        self[channel]?.confirmed(tag, multiple: multiple, positive: positive) { publication, fate in
            switch channel {
            case replies.number:
                counts.note(fate)
                replied(publication, fate)
            case tried.number: triedOut(publication, fate, now: now)
            default: settled(publication, fate, now: now)
            }
        }
    }

    /// The broker answered a publication that was tried, or waits for its queue: its exchange exists.
    func triedOut(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        for released in trials.succeeded(publication) { wait(released) }
        settled(publication, fate, now: now)
    }

    /// A reply has met its fate.
    func replied(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate) {
        openReplies[publication.route] = openReplies[publication.route].flatMap { $0 == 1 ? nil : $0 - 1 }
        self.fate(publication, fate)
    }

    /// A publication other than a reply has met its fate. One that the broker did not take goes into its line.
    func settled(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime) {
        counts.note(fate)
        let route = publication.route
        if fate == .confirmed {
            refused.confirmed(publication)
            proof.confirmed(route, isStalled: !isTroubleFree && stalled(route) > 0, now: now)
            self.fate(publication, fate)
        } else {
            proof.refused(route, now: now)
            // Some of several bound queues may have taken it.
            if fate != .returned { publication.isRepublished = true }
            refused.refused(
                publication, trouble: publication.trouble(after: fate), isUnconfirmed: fate == .abandoned, now: now,
                random: &random)
            // Waiting ones of its line would be refused, too.
            sortWaiting()
        }
    }

    /// Notes since when each route has had too many publications that were not taken.
    private func noteStalled(now: MonotonicTime) {
        proof.passTime(isTroubleFree: isTroubleFree, now: now)
        if isTroubleFree, !main.isCrowded { return stalledSince.removeAll() }
        // The broker may take a route's last ones all at once.
        stalledSince = stalledSince.filter { isStalled($0.key) }
        let troubled = refused.routes.union(trials.routes).union(main.crowdedRoutes)
        for route in troubled where isStalled(route) && stalledSince[route] == nil { stalledSince[route] = now }
    }
}
