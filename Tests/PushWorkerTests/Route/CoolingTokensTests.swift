import APNSClient
import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("Device tokens that rest", .timeLimit(.minutes(1)))
struct CoolingTokensTests {
    private func key(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        return CoolingTokens.key(bytes.span)
    }

    @Test("A token rests until its time is over, the latest of several; others do not")
    func rest() {
        let tokens = CoolingTokens()
        #expect(tokens.isEmpty)
        tokens.cool(key("a1"), until: 100, now: 0)
        tokens.cool(key("a1"), until: 50, now: 10)
        #expect(tokens.remaining(key("a1"), now: 20) == .nanoseconds(80))
        #expect(tokens.remaining(key("a2"), now: 20) == nil)
        tokens.cool(key("a2"), until: 300, now: 20)
        #expect(tokens.remaining(key("a1"), now: 100) == nil)
        #expect(tokens.count == 1)
        #expect(tokens.remaining(key("a2"), now: 299) == .nanoseconds(1))
        tokens.forgetIfDue(now: 299)
        #expect(!tokens.isEmpty)
        tokens.forgetIfDue(now: 300)
        #expect(tokens.isEmpty)
    }

    @Test("Upper and lower case name the same token")
    func letterCase() {
        #expect(key("A1B2C3") == key("a1b2c3"))
        #expect(key("A1B2C3") != key("a1b2c4"))
        #expect(key("00") != key("000"))
    }

    @Test("Their number is bounded: what is over makes room, and where nothing is, the newest goes on as before")
    func bounded() {
        let tokens = CoolingTokens()
        for number in 0..<CoolingTokens.capacity { tokens.cool(number, until: number < 10 ? 50 : 1_000, now: 0) }
        tokens.cool(-1, until: 1_000, now: 49)
        #expect(tokens.count == CoolingTokens.capacity)
        #expect(tokens.remaining(-1, now: 49) == nil)
        tokens.cool(20, until: 2_000, now: 49)
        #expect(tokens.remaining(20, now: 49) == .nanoseconds(1_951))
        tokens.cool(-1, until: 1_000, now: 50)
        #expect(tokens.count == CoolingTokens.capacity - 9)
        #expect(tokens.remaining(-1, now: 50) == .nanoseconds(950))
    }
}
