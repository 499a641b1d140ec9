import Testing

@testable import PushWorker

@Suite("Fail-points", .timeLimit(.minutes(1)))
struct FailPointTests {
    @Test("Every step is asked for by its number or its probability, and a job by its id")
    func plans() {
        for point in FailPoint.allCases {
            #expect(FailPoint.Plan("\(point.rawValue):7") == .hit(point, number: 7))
            #expect(FailPoint.Plan("\(point.rawValue):0.25") == .chance(point, 0.25))
        }
        #expect(FailPoint.Plan("crash-on-job:a:b") == .job(Array("a:b".utf8)))
    }

    @Test(
        "What makes no sense is not a plan",
        arguments: ["", "after-send", "after-send:", "after-send:0", "after-send:1.5", "after-send:x", "sometimes:3"])
    func nonsense(text: String) {
        #expect(FailPoint.Plan(text) == nil)
    }
}
