import EventLoop
import RabbitMQ

// What the publisher does when the broker's answers do not come. `AnswerPatience` decides when.
extension Publisher {
    /// Gives up publications that the broker does not answer, and a connection on which answers do not come.
    ///
    /// - Returns: Whether the connection is still there.
    func keepsPatience(_ session: AMQPSession, now: MonotonicTime) -> Bool {
        if session.isBlocked { unblocked(now: now) }
        let debts = channels.debts
        patience.note(debts, now: now)
        abandonReplies(debts, now: now)
        guard let problem = replaceSlow(session, debts, now: now) ?? giveUpOverdue(debts, now: now) else { return true }
        link()?.failed(AMQPError(.timeout, problem), now: now)
        return false
    }

    /// The broker does not read now, or reads again from now on. Its time for answers starts anew.
    func unblocked(now: MonotonicTime) { patience.excused(now: now) }

    /// Counts unanswered publications as refused, if the connection has to be given up for them.
    ///
    /// - Returns: Why the connection has to be given up; nil if it stays.
    private func giveUpOverdue(_ debts: AnswerPatience.Debts, now: MonotonicTime) -> String? {
        switch patience.verdict(on: debts, isFull: channels.main.isFull, now: now) {
        case .waits: return nil
        case .overtaken:
            let text = "a queue does not confirm, others do: \(unconfirmed) publications wait, and are published again"
            let age = patience.leastAgeOfOvertaken
            settle(channels.main.abandon(after: age, onlyOvertaken: true, now: now), now: now)
            return text
        case .overdue(let isAgain):
            guard unconfirmed > 0 else { return "the broker does not open a channel for publishing" }
            let text = "the broker does not confirm: \(unconfirmed) publications wait, and are published again"
            // If another connection did not help, one queue may hold up all publications.
            if isAgain { settle(channels.main.abandon(after: patience.usual, now: now), now: now) }
            // A stuck publication on the channel for tries would be tried first again and hold up its exchange.
            if let stuck = channels.tried.abandon(after: patience.usual, now: now).first {
                triedOut(stuck, .abandoned, now: now)
            }
            return text
        }
    }

    /// Counts publications as refused that are no longer waited for.
    private func settle(_ abandoned: [Publication], now: MonotonicTime) {
        for publication in abandoned { settled(publication, .abandoned, now: now) }
    }

    /// Goes on with another slow channel if the present one stands still. Publications on other channels do not wait
    /// for this.
    ///
    /// - Returns: Why the connection has to be given up instead; nil if it stays.
    private func replaceSlow(_ session: AMQPSession, _ debts: AnswerPatience.Debts, now: MonotonicTime) -> String? {
        guard patience.isSlowOverdue(debts, now: now) else { return nil }
        // The queue of the oldest publication blocks the channel. The other publications waited behind that one.
        let given = channels.slow.abandon(after: patience.usual, now: now)
        let isBlocker = { (publication: Publication) in
            publication.route == given[0].route && publication.destination == given[0].destination
        }
        settle(given.filter(isBlocker), now: now)
        loseSlow(given.filter { !isBlocker($0) })
        do throws(AMQPError) {
            try channels.replaceSlow(on: session)
            return nil
        } catch {
            return error.message
        }
    }

    /// Gives up replies that the broker neither confirms nor refuses. Only their exchange is in trouble, so the
    /// connection stays.
    private func abandonReplies(_ debts: AnswerPatience.Debts, now: MonotonicTime) {
        guard let due = patience.repliesDue(debts), now >= due else { return }
        for publication in channels.replies.abandon(after: patience.usual, now: now) {
            openReplies.abandoned(of: publication.route, now: now)
            counts.note(.abandoned)
            replied(publication, .abandoned)
        }
    }

    /// Gives up the waiting replies of routes that have none now.
    func giveUpRestingReplies(now: MonotonicTime) {
        guard openReplies.mayRest else { return }
        var given: [Publication] = []
        channels.replies.removeWaiting { publication in
            guard openReplies.rests(publication.route, now: now) else { return false }
            given.append(publication)
            return true
        }
        for publication in given {
            counts.note(.abandoned)
            replied(publication, .abandoned)
        }
    }
}
