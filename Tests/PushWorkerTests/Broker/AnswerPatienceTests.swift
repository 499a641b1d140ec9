import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("Patience with the broker's answers", .timeLimit(.minutes(1)))
final class AnswerPatienceTests {
    private typealias Debts = AnswerPatience.Debts

    private static let start: MonotonicTime = 1_000_000_000
    private static let usual = ConfirmPatience.usual
    private static let sooner = AnswerPatience.usualWithOvertaken

    private var patience = AnswerPatience(ConfirmPatience())

    private func debts(
        oldest: MonotonicTime? = nil, slow: MonotonicTime? = nil, main: MonotonicTime? = nil,
        reply: MonotonicTime? = nil, overtakers: Int = 0
    ) -> Debts {
        Debts(oldest: oldest ?? main, slow: slow, main: main, reply: reply, overtakers: overtakers)
    }

    private func verdict(
        _ debts: Debts, isFull: Bool = false, at time: MonotonicTime
    ) -> AnswerPatience.Verdict {
        patience.note(debts, now: time)
        return patience.verdict(on: debts, isFull: isFull, now: time)
    }

    @Test("A broker that owes nothing is waited for without end")
    func nothing() {
        #expect(patience.due(debts()) == nil)
        let verdict = verdict(debts(), at: .distantFuture)
        #expect(verdict == .waits)
    }

    @Test("A broker that does not answer at all is overdue, and again when another connection did not help")
    func overdue() {
        let owed = debts(main: Self.start)
        #expect(patience.due(owed) == Self.start + Self.usual)
        let early = verdict(owed, at: Self.start + (Self.usual - .nanoseconds(1)))
        let first = verdict(owed, at: Self.start + Self.usual)
        let second = verdict(debts(main: Self.start + Self.usual), at: Self.start + Self.usual * 3)
        #expect(early == .waits && first == .overdue(isAgain: false) && second == .overdue(isAgain: true))
    }

    @Test(
        "Publications that many later ones overtook are given up sooner, counted from when that was seen",
        arguments: [
            (AnswerPatience.mostOvertakers - 1, ConfirmPatience.usual),
            (AnswerPatience.mostOvertakers, AnswerPatience.usualWithOvertaken),
        ])
    func overtaken(overtakers: Int, wait: Duration) {
        let seen = Self.start + .seconds(20)
        // Other channels owe nothing for as long.
        let owed = Debts(oldest: seen, slow: nil, main: Self.start, reply: nil, overtakers: overtakers)
        let first = verdict(owed, at: seen)
        #expect(first == .waits && patience.due(owed) == seen + wait)
        let early = verdict(owed, at: seen + (wait - .nanoseconds(1)))
        let late = verdict(owed, at: seen + wait)
        #expect(early == .waits && late == .overtaken)
    }

    @Test("Overtaken publications that keep others from going out are given up at once")
    func full() {
        let verdict = verdict(debts(main: Self.start, overtakers: 1), isFull: true, at: Self.start)
        #expect(verdict == .overtaken)
    }

    @Test("What was overtaken counts afresh once it is answered, and on another connection")
    func answered() {
        let sure = AnswerPatience.mostOvertakers
        let later = Self.start + Self.sooner
        _ = verdict(debts(main: Self.start, overtakers: sure), at: Self.start)
        let next = verdict(debts(main: Self.start + .nanoseconds(1), overtakers: sure), at: later)
        #expect(next == .waits && patience.due(debts(overtakers: sure)) == later + Self.sooner)
        patience.connectionLost()
        #expect(patience.due(debts()) == nil)
    }

    @Test("A broker that does not read has its time from when it reads again")
    func excused() {
        let reads = Self.start + .seconds(100)
        patience.excused(now: reads)
        #expect(patience.due(debts(main: Self.start)) == reads + Self.usual)
        #expect(patience.due(debts(slow: Self.start)) == reads + Self.usual)
        #expect(patience.due(debts(reply: Self.start)) == reads + Self.usual)
    }

    @Test("Replies are given up alone, unless results wait for as long")
    func replies() {
        let later = Self.start + .seconds(1)
        #expect(patience.repliesDue(debts(reply: Self.start)) == Self.start + Self.usual)
        #expect(patience.repliesDue(debts(main: later, reply: Self.start)) == Self.start + Self.usual)
        #expect(patience.repliesDue(debts(main: Self.start, reply: Self.start)) == nil)
        #expect(
            patience.repliesDue(debts(main: Self.start, reply: Self.start, overtakers: 1)) == Self.start + Self.usual)
    }

    @Test("The patience with slow channels doubles to four times the usual one")
    func slow() {
        var now = Self.start
        for factor in [1, 2, 4, 4] {
            let owed = debts(slow: now)
            #expect(patience.due(owed) == now + Self.usual * factor)
            now = now + Self.usual * factor
            let isOverdue = patience.isSlowOverdue(owed, now: now)
            #expect(isOverdue)
        }
    }
}
