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
}
