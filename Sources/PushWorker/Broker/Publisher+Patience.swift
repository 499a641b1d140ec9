import EventLoop
import RabbitMQ

// How long the publisher waits for the broker's answers, and what it does then.
extension Publisher {
    /// Gives up what the broker does not answer, and a connection on which answers do not come.
    ///
    /// - Returns: Whether the connection is still there.
    func keepsPatience(_ session: AMQPSession, now: MonotonicTime) -> Bool {
        if session.isBlocked {
            blockedAt = now
            patience.excused(now: now)
            slowPatience.excused(now: now)
        }
        abandonReplies(now: now)
        guard let problem = giveUpOverdue(now: now) else { return true }
        link()?.failed(AMQPError(.timeout, problem), now: now)
        return false
    }

    /// When time alone lets `keepsPatience(_:now:)` give something up.
    var answersDue: MonotonicTime? {
        let due: [4 of MonotonicTime?] = [
            repliesDue, overtaken?.due, slowPatience.due(oldest: slow.oldest), patience.due(oldest: oldestDebt),
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// Counts unanswered publications as refused, if the connection has to be given up. On the next one each route has
    /// one of them out at first, on the slow channel: RabbitMQ stops reading a connection for the sake of one queue that
    /// confirms nothing.
    ///
    /// - Returns: Why the connection has to be given up; nil if it stays.
    private func giveUpOverdue(now: MonotonicTime) -> String? {
        if let overtaken, now >= overtaken.due {
            let text = "a queue does not confirm, others do: \(unconfirmed) publications wait, and are published again"
            abandon(after: overtaken.patience, until: overtaken.by, now: now)
            return text
        }
        if slowPatience.runsOut(oldest: slow.oldest, now: now) {
            let given = slow.abandon(after: .zero, now: now)
            for publication in given { settled(publication, .abandoned, now: now) }
            return "a queue still does not confirm: \(given.count) publications are published again"
        }
        if abandonedReplies > Self.mostAbandoned {
            return "the broker may keep \(abandonedReplies) replies that it did not confirm"
        }
        guard patience.runsOut(oldest: oldestDebt, now: now) else { return nil }
        guard unconfirmed > 0 else { return "the broker does not open a channel for publishing" }
        let text = "the broker does not confirm: \(unconfirmed) publications wait, and are published again"
        abandon(after: .zero, now: now)
        return text
    }

    /// Since when the broker has owed its oldest answer: a confirm, or an open channel.
    private var oldestDebt: MonotonicTime? {
        let debts: [6 of MonotonicTime?] = [
            main.oldest, tried.oldest, main.state.awaitedSince, replies.state.awaitedSince, tried.state.awaitedSince,
            slow.state.awaitedSince,
        ]
        return MonotonicTime.earliest(of: debts)
    }

    /// Unanswered publications that answered ones overtook: the time until which those were published, for how long the
    /// others are waited for, and when that is over for the oldest; nil without any.
    private var overtaken: (by: MonotonicTime, patience: Duration, due: MonotonicTime)? {
        guard let oldest = MonotonicTime.earliest(of: [main.oldest, tried.oldest] as [2 of MonotonicTime?]),
            let by = main.newestAnswered, oldest <= by
        else { return nil }
        let isSure = main.overtakers >= Self.overtaking.most
        let patience = isSure ? min(self.patience.usual, Self.overtaking.patience) : self.patience.usual
        return (by, patience, max(oldest, blockedAt) + patience)
    }

    /// Counts unanswered publications as refused.
    ///
    /// - Parameters:
    ///   - age: Those that are unanswered for this long.
    ///   - limit: Those that were published until this time; nil for all.
    ///   - now: The time.
    private func abandon(after age: Duration, until limit: MonotonicTime? = nil, now: MonotonicTime) {
        for publication in main.abandon(after: age, until: limit, now: now) {
            settled(publication, .abandoned, now: now)
        }
        for publication in tried.abandon(after: age, until: limit, now: now) {
            triedOut(publication, .abandoned, now: now)
        }
    }

    private var repliesDue: MonotonicTime? { replies.oldest.map { max($0, blockedAt) + patience.usual } }

    /// Gives up replies that the broker neither confirms nor refuses. Only their exchange is in trouble, so the
    /// connection stays.
    private func abandonReplies(now: MonotonicTime) {
        guard let repliesDue, now >= repliesDue else { return }
        for publication in replies.abandon(after: patience.usual, now: now) {
            abandonedReplies += 1
            count(.abandoned)
            replied(publication, .abandoned)
        }
    }
}
