import Testing

@testable import PushWorker

@Suite("How long a step to a broker may take", .timeLimit(.minutes(1)))
struct StepPatienceTests {
    @Test(
        "it doubles with each attempt that met silence, up to what the URI allows",
        arguments: [(10, [2, 4, 8, 10, 10]), (3, [2, 3, 3]), (1, [1, 1, 1])])
    func limits(most: Int, expected: [Int]) {
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
