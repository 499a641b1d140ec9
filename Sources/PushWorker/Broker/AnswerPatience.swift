import EventLoop

/// How long a publisher waits for the broker's answers, which are confirms and open channels. Pure: facts and times in,
/// verdicts out.
///
/// - An answer that does not come for long costs the connection.
/// - Publications that later, answered ones overtake are given up sooner. Then their queue is in trouble, and the
///   broker is not.
/// - The slow channel has a patience of its own. That patience grows less, because only a new channel may help.
/// - A reply without an answer costs nothing but the reply. Only its exchange is in trouble.
struct AnswerPatience {
    /// Since when the broker has owed its answers; nil where it owes none.
    struct Debts {
        /// The oldest of all, except for those of the slow channel and for confirms of replies.
        let oldest: MonotonicTime?
        /// The oldest of the slow channel.
        let slow: MonotonicTime?
        /// The oldest confirm of the main channel.
        let main: MonotonicTime?
        /// The oldest confirm of a reply.
        let reply: MonotonicTime?
        /// How many publications on the main channel were answered that are later than the oldest unanswered one.
        let overtakers: Int
    }

    /// What is to be done about answers that do not come.
    enum Verdict: Equatable {
        /// They are still awaited.
        case waits
        /// Overtaken publications are no longer waited for.
        case overtaken
        /// The broker does not answer at all. `isAgain` is true if another connection did not help before.
        case overdue(isAgain: Bool)
    }

    /// Facts about overtaken publications: the broker answered later ones on the channel, and not these.
    private struct Overtaken {
        /// When the oldest of them was published.
        let oldest: MonotonicTime
        /// When the overtaking was seen first.
        let since: MonotonicTime
        /// Since when `mostOvertakers` later ones are answered; nil while fewer are.
        var sureSince: MonotonicTime?
    }

    /// This many later publications must be answered before the trouble is surely not the broker's.
    static let mostOvertakers = 32
    /// The usual patience with publications that `mostOvertakers` later ones overtook.
    static let usualWithOvertaken = Duration.seconds(2)

    /// The patience with a broker that does not answer at all.
    private(set) var withAll: ConfirmPatience
    /// The patience with publications that answered ones surely overtook.
    private(set) var withOvertaken: ConfirmPatience
    /// The patience with the slow channel.
    private(set) var withSlow: ConfirmPatience
    /// Publications that answered ones overtook; nil without any.
    private var overtaken: Overtaken?
    /// The latest time at which the broker was known not to read.
    private var blockedAt = MonotonicTime(nanoseconds: 0)

    /// Patience that never ran out.
    ///
    /// - Parameter patience: The patience with a broker that does not answer at all.
    init(_ patience: ConfirmPatience) {
        withAll = patience
        withOvertaken = ConfirmPatience(usual: min(patience.usual, Self.usualWithOvertaken), mostDoublings: 2)
        withSlow = ConfirmPatience(usual: patience.usual, mostDoublings: 2)
    }

    /// The patience without trouble.
    var usual: Duration { withAll.usual }

    /// The least age at which an overtaken publication is given up with others. Queues that are in the same trouble
    /// must not cost the next connection, too.
    var leastAgeOfOvertaken: Duration { withOvertaken.usual / 4 }

    /// The broker does not read now, or reads again from now on. Its time for answers starts anew.
    mutating func excused(now: MonotonicTime) {
        blockedAt = now
        withAll.excused(now: now)
        withOvertaken.excused(now: now)
        withSlow.excused(now: now)
    }

    /// Notes whether publications are overtaken now.
    mutating func note(_ debts: Debts, now: MonotonicTime) {
        guard debts.overtakers > 0, let oldest = debts.main else { return overtaken = nil }
        if overtaken?.oldest != oldest { overtaken = Overtaken(oldest: oldest, since: now) }
        guard debts.overtakers >= Self.mostOvertakers, overtaken?.sureSince == nil else { return }
        overtaken?.sureSince = now
    }

    /// The connection is gone, and nothing on it is overtaken any more.
    mutating func connectionLost() { overtaken = nil }

    /// Decides what is to be done about answers that do not come, except on the slow channel. A patience that runs out
    /// here is longer the next time.
    ///
    /// - Parameters:
    ///   - debts: What the broker owes.
    ///   - isFull: Whether overtaken publications keep others from being published.
    ///   - now: The time.
    /// - Returns: The verdict.
    mutating func verdict(on debts: Debts, isFull: Bool, now: MonotonicTime) -> Verdict {
        // Asked in each case, because `runsOut` also forgets earlier trouble as time passes.
        let isSure = withOvertaken.runsOut(oldest: overtaken?.sureSince, now: now)
        if isSure || isFull || overtakenDue.map({ now >= $0 }) ?? false { return .overtaken }
        let isAgain = withAll.doublings > 0
        return withAll.runsOut(oldest: debts.oldest, now: now) ? .overdue(isAgain: isAgain) : .waits
    }

    /// Whether the slow channel stands still. If so, the patience with the next one is longer.
    mutating func isSlowOverdue(_ debts: Debts, now: MonotonicTime) -> Bool {
        withSlow.runsOut(oldest: debts.slow, now: now)
    }

    /// When the oldest unanswered reply is given up; nil without one.
    ///
    /// Also nil if a publication on the main channel is unanswered for as long, and no later one there was answered.
    /// The connection may be to blame then. On another connection, replies are published again.
    func repliesDue(_ debts: Debts) -> MonotonicTime? {
        guard let oldest = debts.reply else { return nil }
        if debts.overtakers == 0, let result = debts.main, result <= oldest { return nil }
        return max(oldest, blockedAt) + usual
    }

    /// When something is given up because time passed; nil if the broker owes no answer.
    func due(_ debts: Debts) -> MonotonicTime? {
        let due: [4 of MonotonicTime?] = [
            repliesDue(debts), overtakenDue, withSlow.due(oldest: debts.slow), withAll.due(oldest: debts.oldest),
        ]
        return MonotonicTime.earliest(of: due)
    }

    /// When overtaken publications are given up; nil without any.
    ///
    /// Their time counts from when the overtaking was noticed, because confirms are read one by one after a pause of
    /// the whole broker.
    private var overtakenDue: MonotonicTime? {
        guard let overtaken else { return nil }
        let usual = max(overtaken.since, blockedAt) + usual
        return withOvertaken.due(oldest: overtaken.sureSince).map { min($0, usual) } ?? usual
    }
}
