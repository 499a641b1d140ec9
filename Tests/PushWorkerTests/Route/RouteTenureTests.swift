import Testing

@testable import PushWorker

@Suite("How a route leaves", .timeLimit(.minutes(1)))
struct RouteTenureTests {
    @Test(
        "each step follows the one before it, and is taken once",
        arguments: RouteTenure.allCases, RouteTenure.allCases)
    func steps(from: RouteTenure, to next: RouteTenure) {
        let following: [RouteTenure: RouteTenure] = [
            .staying: .leaving, .leaving: .ended, .ended: .left, .left: .vacant,
        ]
        var tenure = from
        let isNext = following[from] == next
        #expect(tenure.step(to: next) == isNext)
        #expect(tenure == (isNext ? next : from))
    }
}
