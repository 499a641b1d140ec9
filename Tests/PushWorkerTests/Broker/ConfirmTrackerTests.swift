import EventLoop
import PushWorker
import TestSupport
import Testing

@Suite("Publisher confirms", .timeLimit(.minutes(1)))
struct ConfirmTrackerTests {
    private func tracker(_ names: String...) -> ConfirmTracker<String> {
        var tracker = ConfirmTracker<String>()
        for name in names { tracker.published(name, now: 0) }
        return tracker
    }

    @Test("sequence numbers count from one")
    func sequence() {
        var tracker = ConfirmTracker<String>()
        #expect(tracker.published("a", now: 0) == 1)
        #expect(tracker.published("b", now: 0) == 2)
    }

    @Test("a single confirm settles one publication, in any order")
    func single() {
        var tracker = tracker("a", "b", "c")
        var settled: [String] = []
        #expect(tracker.confirmed(2, multiple: false, positive: true) { name, _ in settled.append(name) })
        #expect(tracker.confirmed(1, multiple: false, positive: true) { name, _ in settled.append(name) })
        #expect(settled == ["b", "a"])
        #expect(tracker.unconfirmed == 1)
        #expect(tracker.published("d", now: 0) == 4)
    }

    @Test("a multiple confirm settles everything up to it that is still open")
    func multiple() {
        var tracker = tracker("a", "b", "c", "d")
        var settled: [String] = []
        _ = tracker.confirmed(2, multiple: false, positive: true) { name, _ in settled.append(name) }
        #expect(tracker.confirmed(3, multiple: true, positive: true) { name, _ in settled.append(name) })
        #expect(settled == ["b", "a", "c"])
    }

    @Test("a returned publication is not stored although its confirm is positive")
    func returned() {
        var tracker = tracker("a", "b", "c")
        #expect(tracker.returned { $0 == "b" })
        #expect(!tracker.returned { $0 == "b" })
        var fates: [String: ConfirmTracker<String>.Fate] = [:]
        _ = tracker.confirmed(3, multiple: true, positive: true) { fates[$0] = $1 }
        #expect(fates == ["a": .confirmed, "b": .returned, "c": .confirmed])
    }

    /// What became of publications by number: the first two and the last look the same.
    private func fates(returns: Int, thenConfirmed: ClosedRange<UInt64> = 1...4) -> [ConfirmTracker<Int>.Fate] {
        var tracker = ConfirmTracker<Int>()
        for (number, mark) in zip(1..., [7, 7, 8, 7] as [UInt64]) { tracker.published(number, mark: mark, now: 0) }
        var fates: [ConfirmTracker<Int>.Fate] = []
        for _ in 0..<returns { #expect(tracker.returned { $0 != 3 }) }
        for number in thenConfirmed {
            _ = tracker.confirmed(number, multiple: false, positive: true) { fates.append($1) }
        }
        return fates
    }

    @Test("of publications that look the same each may be the one that came back, until all of them did")
    func alike() {
        #expect(fates(returns: 0) == [.confirmed, .confirmed, .confirmed, .confirmed])
        #expect(fates(returns: 1) == [.perhapsReturned, .perhapsReturned, .confirmed, .perhapsReturned])
        #expect(fates(returns: 2) == [.perhapsReturned, .perhapsReturned, .confirmed, .perhapsReturned])
        #expect(fates(returns: 3) == [.returned, .returned, .confirmed, .returned])
    }

    @Test("one that is confirmed already did not come back, and one that is refused was not taken in any case")
    func alikeLater() {
        var tracker = tracker("a", "a", "a")
        var fates: [ConfirmTracker<String>.Fate] = []
        func confirm(_ number: UInt64, positive: Bool = true) {
            _ = tracker.confirmed(number, multiple: false, positive: positive) { fates.append($1) }
        }
        confirm(1)
        #expect(tracker.returned { $0 == "a" })
        confirm(2)
        #expect(tracker.returned { $0 == "a" })
        confirm(3)
        #expect(fates == [.confirmed, .perhapsReturned, .returned])
        for _ in 0..<2 { tracker.published("a", now: 0) }
        #expect(tracker.returned { $0 == "a" })
        confirm(4, positive: false)
        confirm(5)
        #expect(fates.suffix(2) == [.refused, .perhapsReturned])
    }

    @Test("Of many that wait only those are looked at that share the mark of the one that came back")
    func marks() {
        var tracker = ConfirmTracker<Int>()
        for number in 0..<200 { tracker.published(number, mark: UInt64(number), now: 0) }
        var looks = 0
        for number in 0..<200 {
            let isKnown = tracker.returned { candidate in
                looks += 1
                return candidate == number
            }
            #expect(isKnown)
        }
        #expect(looks == 2 * 200)
    }

    @Test("a negative confirm means refused")
    func refused() {
        var tracker = tracker("a")
        var fate: ConfirmTracker<String>.Fate?
        _ = tracker.confirmed(1, multiple: false, positive: false) { fate = $1 }
        #expect(fate == .refused)
    }

    @Test("a confirm for something never published, or settled before, is told apart")
    func unknown() {
        var tracker = tracker("a")
        #expect(!tracker.confirmed(2, multiple: false, positive: true) { _, _ in Issue.record("nothing to settle") })
        #expect(tracker.confirmed(1, multiple: false, positive: true) { _, _ in })
        #expect(!tracker.confirmed(1, multiple: false, positive: true) { _, _ in Issue.record("nothing to settle") })
    }

    @Test("what is awaited no more is given back once, and what is said about it later is passed over")
    func abandoned() {
        var tracker = ConfirmTracker<String>()
        for (name, time) in [("a", 0), ("b", 1), ("c", 2)] as [(String, MonotonicTime)] {
            tracker.published(name, now: time)
        }
        var given: [String] = []
        tracker.abandon(after: .nanoseconds(10), now: 11) { given.append($0) }
        tracker.abandon(after: .nanoseconds(10), now: 11) { given.append($0) }
        #expect(given == ["a", "b"] && tracker.unconfirmed == 1 && tracker.oldest == 2)
        #expect(!tracker.confirmed(1, multiple: false, positive: true) { _, _ in Issue.record("nothing to settle") })
        var settled: [String] = []
        _ = tracker.confirmed(3, multiple: true, positive: true) { name, _ in settled.append(name) }
        #expect(settled == ["c"])
    }

    @Test("publications that others overtook are given up alone, those that were published later are awaited")
    func overtaken() {
        var tracker = ConfirmTracker<String>()
        for (name, time) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] as [(String, MonotonicTime)] {
            tracker.published(name, now: time)
        }
        #expect(tracker.overtakers == 0)
        _ = tracker.confirmed(3, multiple: false, positive: true) { _, _ in }
        #expect(tracker.overtakers == 1)
        var given: [String] = []
        tracker.abandon(after: .zero, onlyOvertaken: true, now: 9) { given.append($0) }
        #expect(given == ["a", "b"] && tracker.unconfirmed == 1 && tracker.oldest == 3 && tracker.overtakers == 0)
    }

    @Test("a lost channel gives back what is unconfirmed, in order, and starts over")
    func lost() {
        var tracker = tracker("a", "b", "c")
        _ = tracker.confirmed(2, multiple: false, positive: true) { _, _ in }
        #expect(tracker.channelLost() == ["a", "c"])
        #expect(tracker.unconfirmed == 0)
        #expect(tracker.published("a", now: 0) == 1)
    }

    @Test("the oldest publication without a confirm is known, and so is how many places it holds")
    func oldest() {
        var tracker = ConfirmTracker<String>()
        #expect(tracker.oldest == nil)
        for (name, time) in [("a", 0), ("b", 1), ("c", 2)] as [(String, MonotonicTime)] {
            tracker.published(name, now: time)
        }
        _ = tracker.confirmed(2, multiple: false, positive: true) { _, _ in }
        #expect(tracker.oldest == 0 && tracker.span == 3 && tracker.unconfirmed == 2)
        _ = tracker.confirmed(1, multiple: false, positive: true) { _, _ in }
        #expect(tracker.oldest == 2 && tracker.span == 1)
    }
}
