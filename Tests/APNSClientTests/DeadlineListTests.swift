import EventLoop
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("The order of deadlines", .timeLimit(.minutes(1)))
struct DeadlineListTests {
    @Test("Slots come out in the order they went in, without those that left")
    func order() {
        var list = DeadlineList()
        for slot in [3, 0, 5, 1] { list.append(slot, due: 10 + slot == 13 ? 10 : 20) }
        #expect(list.nextDue == 10)
        list.remove(0)
        #expect(list.popDue(now: 9) == nil)
        #expect(list.popDue(now: 20) == 3)
        #expect(list.popDue(now: 20) == 5)
        list.append(3, due: 30)
        #expect(list.popDue(now: 20) == 1)
        #expect(list.popDue(now: 20) == nil)
        #expect(list.nextDue == 30)
        list.remove(3)
        #expect(list.nextDue == nil)
    }

    @Test("Random use agrees with a plain array", arguments: 0..<20)
    func model(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var list = DeadlineList()
        var model: [(slot: Int, due: MonotonicTime)] = []
        for tick in 0..<500 as Range<UInt64> {
            let now = MonotonicTime(nanoseconds: tick)
            let slot = Int.random(in: 0..<40, using: &random)
            if let place = model.firstIndex(where: { $0.slot == slot }) {
                list.remove(slot)
                model.remove(at: place)
            } else {
                list.append(slot, due: now + .nanoseconds(30))
                model.append((slot, now + .nanoseconds(30)))
            }
            while let popped = list.popDue(now: now) {
                #expect(model.first?.slot == popped)
                model.removeFirst()
            }
            #expect(list.nextDue == model.first?.due)
            #expect(model.allSatisfy { $0.due > now })
        }
    }
}
