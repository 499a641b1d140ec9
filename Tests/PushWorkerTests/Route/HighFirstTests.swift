import PushModel
import Testing

@testable import PushWorker

@Suite("High jobs go first", .timeLimit(.minutes(1)))
struct HighFirstTests {
    /// Which classes wait and may go, in each step: high, normal, both or neither.
    private enum Waiting: CaseIterable {
        case high, normal, both, neither
    }

    /// Sends what is next in each step.
    private func sent(_ steps: [Waiting]) -> [JobClass?] {
        var order = HighFirst()
        return steps.map { step in
            let (high, normal) = (step == .high || step == .both, step == .normal || step == .both)
            let next = order.next(high: high, normal: normal)
            if let next { order.sent(next, normal: normal) }
            return next
        }
    }

    @Test("A high one is next, and after three of them in a row one normal one that waits")
    func order() {
        let cases: [([Waiting], [JobClass?])] = [
            ([.neither, .normal, .high, .both], [nil, .normal, .high, .high]),
            ([.both, .both, .both, .both, .both], [.high, .high, .high, .normal, .high]),
            // High ones that go past nobody do not count.
            ([.high, .high, .high, .high, .both], [.high, .high, .high, .high, .high]),
            // A normal one that had its turn begins anew.
            (
                [.both, .both, .normal, .both, .both, .both, .both],
                [.high, .high, .normal, .high, .high, .high, .normal]
            ),
        ]
        for (steps, expected) in cases { #expect(sent(steps) == expected, "\(steps)") }
    }

    @Test("However many high ones come, normal ones have their share")
    func share() {
        let normal = sent(Array(repeating: .both, count: 1_000)).count { $0 == .normal }
        #expect(Double(normal) == 1_000 * HighFirst.normalShare)
    }

    @Test("A share of what the connections take is kept for high jobs, at least one request, less those that are open")
    func kept() {
        let cases: [(percent: Int, concurrency: Int, highInFlight: Int, kept: Int)] = [
            (25, 0, 0, 0), (25, 1, 0, 0), (25, 2, 0, 1), (25, 3, 0, 1), (25, 4, 0, 1), (25, 8, 0, 2),
            (25, 1_000, 0, 250), (25, 1_000, 100, 150), (25, 1_000, 250, 0), (25, 1_000, 900, 0), (25, 4, 3, 0),
            (1, 1, 0, 0), (1, 50, 0, 1), (1, 1_000, 0, 10), (90, 2, 0, 1), (90, 10, 0, 9), (90, 1_000, 100, 800),
        ]
        for one in cases {
            let kept = SendingRoom.kept(
                one.percent, percentOf: one.concurrency, highInFlight: one.highInFlight)
            #expect(kept == one.kept, "\(one)")
        }
    }

    @Test("Normal jobs leave what is kept; where nothing is open one goes in any case")
    func room() {
        let cases: [(total: Int, kept: Int, isStill: Bool, normal: Int)] = [
            (100, 25, false, 75), (25, 25, false, 0), (10, 25, false, 0), (10, 25, true, 1), (0, 25, true, 0),
            (8, 0, false, 8), (1, 1, true, 1),
        ]
        for one in cases {
            let room = SendingRoom(one.total, keeping: one.kept, isStill: one.isStill)
            #expect(room.total == one.total && room.normal == one.normal, "\(one)")
        }
    }

    @Test("Requests of each class take from the room, and a rate narrows both")
    func taking() {
        var room = SendingRoom(10, keeping: 4, isStill: false)
        room.take(.high)
        #expect(room.total == 9 && room.normal == 6)
        room.take(.normal)
        #expect(room.total == 8 && room.normal == 5)
        room.limit(to: 2)
        #expect(room.total == 2 && room.normal == 2)
        room.keepNormalOut()
        #expect(room.total == 2 && room.normal == 0)
        #expect(SendingRoom(3) == SendingRoom(3, keeping: 0, isStill: false))
    }

    @Test("What waits stands in two lists, and is looked at as one with the high ones first")
    func lists() {
        var lists = ByClass<Int>()
        lists.append(3, to: .normal)
        lists.append(1, to: .high)
        lists.append(4, to: .normal)
        lists.prepend(0, to: .high)
        lists.prepend(2, to: .normal)
        #expect(Array(lists) == [0, 1, 2, 3, 4])
        #expect(lists.first(of: .normal) == 2 && lists.last(of: .high) == 1)
        #expect(lists.remove(at: 3) == 3 && lists.remove(at: 1) == 1 && Array(lists) == [0, 2, 4])
        #expect(lists.popFirst(of: .high) == 0 && !lists.hasAny(.high) && lists.popFirst(of: .high) == nil)
        #expect(lists.popLast(of: .normal) == 4 && lists.hasAny(.normal))
        lists.removeAll { $0 == 2 }
        #expect(lists.isEmpty)
    }
}
