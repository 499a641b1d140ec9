import EventLoop
import RabbitMQ

// How long the publisher waits for the broker's answers, and what it does then.
extension Publisher {
    /// Facts about overtaken publications: the broker answered later ones on the channel, and not these.
    struct Overtaken {
        /// When the oldest of them was published.
        let oldest: MonotonicTime
        /// When that was seen first.
        let since: MonotonicTime
        /// Since when so many were answered that the trouble is not the broker's.
        var sureSince: MonotonicTime?
    }

    /// Gives up what the broker does not answer, and a connection on which answers do not come.
    ///
    /// - Returns: Whether the connection is still there.
    func keepsPatience(_ session: AMQPSession, now: MonotonicTime) -> Bool {
        if session.isBlocked { unblocked(now: now) }
        noteOvertaken(now: now)
        abandonReplies(now: now)
        guard let problem = replaceSlow(session, now: now) ?? giveUpOverdue(now: now) else { return true }
        link()?.failed(AMQPError(.timeout, problem), now: now)
        return false
    }

    /// The broker reads again: it has its time for answers from now on.
    func unblocked(now: MonotonicTime) {
        blockedAt = now
        patience.excused(now: now)
        overtakingPatience.excused(now: now)
        slowPatience.excused(now: now)
    }

    /// When time alone lets `keepsPatience(_:now:)` give something up.
    var answersDue: MonotonicTime? {
        let due: [4 of MonotonicTime?] = [
            repliesDue, overtakenDue, slowPatience.due(oldest: slowDebt), patience.due(oldest: oldestDebt),
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// Counts unanswered publications as refused, if the connection has to be given up for them.
    ///
    /// - Returns: Why the connection has to be given up; nil if it stays.
    private func giveUpOverdue(now: MonotonicTime) -> String? {
        if isOvertakenFor(now) {
            let text = "a queue does not confirm, others do: \(unconfirmed) publications wait, and are published again"
            // Queues that are in the same trouble must not cost the next connection, too.
            let age = min(Self.overtaking.patience, patience.usual) / 4
            settle(main.abandon(after: age, onlyOvertaken: true, now: now), now: now)
            return text
        }
        let isAgain = patience.doublings > 0
        guard patience.runsOut(oldest: oldestDebt, now: now) else { return nil }
        guard unconfirmed > 0 else { return "the broker does not open a channel for publishing" }
        let text = "the broker does not confirm: \(unconfirmed) publications wait, and are published again"
        // Where another connection did not help, one queue may be to blame for all.
        if isAgain { settle(main.abandon(after: patience.usual, now: now), now: now) }
        // A stuck publication on the channel for tries would be tried first again and hold up its exchange.
        if let stuck = tried.abandon(after: patience.usual, now: now).first {
            triedOut(stuck, .abandoned, now: now)
        }
        return text
    }

    /// Since when the broker has owed its oldest answer, the slow channel's aside: a confirm, or an open channel.
    private var oldestDebt: MonotonicTime? {
        let debts: [5 of MonotonicTime?] = [
            main.oldest, tried.oldest, main.state.awaitedSince, replies.state.awaitedSince, tried.state.awaitedSince,
        ]
        return MonotonicTime.earliest(of: debts)
    }

    /// When overtaken publications are given up; nil without any. Their time counts from when the overtaking was
    /// noticed: after a pause of the whole broker, confirms are read one by one.
    private var overtakenDue: MonotonicTime? {
        guard let overtaken else { return nil }
        let usual = max(overtaken.since, blockedAt) + patience.usual
        return overtakingPatience.due(oldest: overtaken.sureSince).map { min($0, usual) } ?? usual
    }

    private func noteOvertaken(now: MonotonicTime) {
        guard main.overtakers > 0, let oldest = main.oldest else { return overtaken = nil }
        if overtaken?.oldest != oldest { overtaken = Overtaken(oldest: oldest, since: now) }
        guard main.overtakers >= Self.overtaking.most, overtaken?.sureSince == nil else { return }
        overtaken?.sureSince = now
    }

    /// Whether overtaken publications are no longer waited for. If so, the patience with the next ones is longer.
    private func isOvertakenFor(_ now: MonotonicTime) -> Bool {
        // It forgets earlier trouble as time passes.
        let isSure = overtakingPatience.runsOut(oldest: overtaken?.sureSince, now: now)
        return isSure || main.isFull || overtakenDue.map { now >= $0 } ?? false
    }

    /// Counts publications as refused that are no longer waited for.
    private func settle(_ abandoned: [Publication], now: MonotonicTime) {
        for publication in abandoned { settled(publication, .abandoned, now: now) }
    }

    private var slowDebt: MonotonicTime? {
        MonotonicTime.earliest(of: [slow.oldest, slow.state.awaitedSince] as [2 of MonotonicTime?])
    }

    /// Goes on with another slow channel where the present one stands still. Nobody else's publications wait for that.
    ///
    /// - Returns: Why the connection has to be given up instead; nil if it stays.
    private func replaceSlow(_ session: AMQPSession, now: MonotonicTime) -> String? {
        guard slowPatience.runsOut(oldest: slowDebt, now: now) else { return nil }
        // The oldest one's queue blocks the channel. The others waited behind it.
        let given = slow.abandon(after: patience.usual, now: now)
        let isBlocker = { (publication: Publication) in
            publication.route == given[0].route && publication.destination == given[0].destination
        }
        settle(given.filter(isBlocker), now: now)
        loseSlow(given.filter { !isBlocker($0) })
        guard slow.number < Self.channels + Self.mostSlow, Int(slow.number) < session.channelMax else {
            return "\(slow.number - Self.channels + 1) channels for publishing stand still"
        }
        do throws(AMQPError) {
            try session.closeChannel(slow.number)
        } catch {
            return error.message
        }
        slow.renumber(slow.number + 1)
        return nil
    }

    /// When the oldest unanswered reply is given up; nil while results wait for as long. The connection may be to blame
    /// then, and replies are published again.
    private var repliesDue: MonotonicTime? {
        guard let oldest = replies.oldest else { return nil }
        if main.overtakers == 0, let result = main.oldest, result <= oldest { return nil }
        return max(oldest, blockedAt) + patience.usual
    }

    /// Gives up replies that the broker neither confirms nor refuses. Only their exchange is in trouble, so the
    /// connection stays.
    private func abandonReplies(now: MonotonicTime) {
        guard let repliesDue, now >= repliesDue else { return }
        hasAbandoned = true
        for publication in replies.abandon(after: patience.usual, now: now) {
            counts.note(.abandoned)
            replied(publication, .abandoned)
        }
    }
}
