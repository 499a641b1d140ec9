import EventLoop
import Testing

@testable import MartletCommands

@Suite("The pace of publishing", .timeLimit(.minutes(1)))
struct PacerTests {
    @Test("Sends are spread evenly, and a pause is made up for a tenth of a second only")
    func pacer() {
        var pacer = Pacer(rate: 100)
        let start = MonotonicTime.now()
        let steady = (0..<3).map { _ in pacer.wait(now: start) }
        #expect(steady == [.zero, .milliseconds(10), .milliseconds(20)])
        let burst = (0..<20).map { _ in pacer.wait(now: start + .seconds(8)) }
        #expect(burst.filter { $0 == .zero }.count == 11)
        #expect(burst.last == .milliseconds(90))
    }

    @Test("A pace of nearly nothing is a long wait", arguments: [1e-19, 1e-20, 1e-21, .leastNonzeroMagnitude])
    func slow(rate: Double) {
        var pacer = Pacer(rate: rate)
        let waits = (0..<3).map { _ in pacer.wait(now: .now()) }
        #expect(waits[2] > .seconds(86_400))
    }
}
