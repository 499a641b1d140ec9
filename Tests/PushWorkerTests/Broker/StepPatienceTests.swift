import Testing

@testable import PushWorker

@Suite("How long a step to a broker may take", .timeLimit(.minutes(1)))
struct StepPatienceTests {
    @Test(
        "a silent broker costs no more than the longest step of the back-off, but every fourth attempt waits longer",
        arguments: [(10, [2, 4, 4, 10, 4, 4, 4, 10, 4]), (3, [2, 3, 3, 3, 3]), (1, [1, 1, 1, 1, 1])])
    func limits(most: Int, expected: [Int]) {
        #expect(StepPatience.usualLimit == .seconds(4))
        var patience = StepPatience()
        let limits = expected.map { _ in
            defer { patience.ranOut() }
            return patience.limit(.seconds(most))
        }
        #expect(limits == expected.map { .seconds($0) })
    }

    @Test("a connection makes the next attempt a first one again")
    func opened() {
        var patience = StepPatience()
        patience.ranOut()
        patience.opened()
        #expect(patience.limit(.seconds(10)) == StepPatience.firstLimit)
    }
}
