import EventLoop
import RabbitMQ

// How long the publisher waits for the broker's answers, and what it does then.
extension Publisher {
    /// Gives up what the broker does not answer, and a connection on which answers do not come.
    ///
    /// - Returns: Whether the connection is still there.
    func keepsPatience(_ session: AMQPSession, now: MonotonicTime) -> Bool {
        if session.isBlocked { unblocked(now: now) }
        abandonReplies(now: now)
        guard let problem = replaceSlow(session, now: now) ?? giveUpOverdue(now: now) else { return true }
        link()?.failed(AMQPError(.timeout, problem), now: now)
        return false
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
        if let overtakenDue, now >= overtakenDue {
            let text = "a queue does not confirm, others do: \(unconfirmed) publications wait, and are published again"
            if isSurelyOvertaken { _ = overtakingPatience.runsOut(oldest: main.oldest, now: now) }
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
        return text
    }

    /// Since when the broker has owed its oldest answer, the slow channel's aside: a confirm, or an open channel.
    private var oldestDebt: MonotonicTime? {
        let debts: [5 of MonotonicTime?] = [
            main.oldest, tried.oldest, main.state.awaitedSince, replies.state.awaitedSince, tried.state.awaitedSince,
        ]
        return MonotonicTime.earliest(of: debts)
    }

    /// Whether so many later publications were answered that the trouble of the oldest is not the broker's.
    private var isSurelyOvertaken: Bool { main.overtakers >= Self.overtaking.most }

    /// When publications that answered ones overtook are no longer waited for; nil without any.
    private var overtakenDue: MonotonicTime? {
        guard main.overtakers > 0, let oldest = main.oldest else { return nil }
        return isSurelyOvertaken
            ? overtakingPatience.due(oldest: oldest) : max(oldest, blockedAt) + patience.usual
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
        settle(slow.abandon(after: patience.usual, now: now), now: now)
        loseSlow()
        guard slow.number < Self.channels + Self.mostSlow, Int(slow.number) < session.channelMax else {
            return "\(Self.mostSlow) channels for publishing stand still"
        }
        do throws(AMQPError) {
            try session.closeChannel(slow.number)
        } catch {
            return error.message
        }
        slow.renumber(slow.number + 1)
        return nil
    }

    private var repliesDue: MonotonicTime? { replies.oldest.map { max($0, blockedAt) + patience.usual } }

    /// Gives up replies that the broker neither confirms nor refuses. Only their exchange is in trouble, so the
    /// connection stays.
    private func abandonReplies(now: MonotonicTime) {
        guard let repliesDue, now >= repliesDue else { return }
        hasAbandoned = true
        for publication in replies.abandon(after: patience.usual, now: now) {
            count(.abandoned)
            replied(publication, .abandoned)
        }
    }
}
