import PushModel
import PushWorker
import Rig
import Testing

@testable import MartletCommands

@Suite("What the demo does with its campaign", .timeLimit(.minutes(1)))
struct DemoCampaignPlanTests {
    private typealias Plan = DemoCampaignPlan

    @Test(
        "A fiftieth of the jobs are the campaign's, a third of these are cancelled, and some urgent ones pass",
        arguments: [(100, 6, 2, 2), (5_000, 100, 34, 10), (20_000, 300, 100, 30), (500_000, 300, 100, 30)])
    func sizes(jobs: Int, count: Int, cancelled: Int, high: Int) {
        let plan = Plan(among: jobs)
        #expect((plan.count, plan.cancelledCount, plan.highCount) == (count, cancelled, high))
    }

    @Test("Its jobs say so in their reference, urgent ones have none, and each has a device of its own")
    func jobs() {
        let plan = Plan(among: 5_000)
        for number in 0..<plan.count {
            let job = plan.job(number, id: "id")
            #expect(job.body.contains(#""reference":"\#(plan.reference(number))""#) && job.jobClass == .normal)
            #expect(plan.reference(number).hasPrefix(Plan.prefix))
        }
        let high = (0..<plan.highCount).map { plan.highJob($0, id: "id") }
        #expect(high.allSatisfy { $0.jobClass == .high && !$0.body.contains("reference") })
        #expect(plan.tokens.count == plan.count && plan.highTokens.count == plan.highCount)
        let tokens = plan.tokens.union(plan.highTokens)
        #expect(tokens.count == plan.count + plan.highCount)
        #expect(tokens.allSatisfy { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) })
        #expect(DemoJobMix.apps[0].highLane)
    }

    @Test("All workers read what the operator asks for, and in the end just the part is held")
    func commands() {
        var state = ControlState()
        for (step, inForce) in zip(Plan.Step.allCases, [1, 2, 1]) {
            let command = Plan.command(step, id: "id", at: 1_700_000_000_000)
            #expect(ControlCommand(parsing: command.json) == command)
            state.apply(command, at: 1_700_000_000_000)
            #expect(state.inForce(at: 1_700_000_000_000).count == inForce)
        }
        #expect(state.inForce(at: 1_700_000_000_000).map(\.target) == [.campaign(Plan.cancelledPrefix)])
    }

    @Test("Its jobs wait in the shortest tier, however late they are taken")
    func tier() {
        let tiers = RetryPolicy().tiers
        #expect(tiers[0] <= .seconds(2) && Plan.longestPause < tiers[1])
    }
}
