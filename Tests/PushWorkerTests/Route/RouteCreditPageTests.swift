import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about prefetch and memory", .timeLimit(.minutes(1)))
struct RouteCreditPageTests {
    private let text: String

    init() throws { text = try Page(documentation: "Operating").text(of: "Prefetch and memory") }

    /// What a route wants that has seen many small messages of one notification each.
    private static func wanted(streams: Int, rate: Double? = nil) -> Int {
        var credit = RouteCredit(fixed: nil, rate: rate)
        for _ in 0..<1_000 { credit.arrived(notifications: 1, bytes: 500) }
        return credit.wanted(streams: streams, share: 32 << 20)
    }

    @Test("Operating says what the prefetch follows, and between which bounds")
    func bounds() {
        let ratio = Double(Self.wanted(streams: 1_000)) / 1_000
        #expect(text.contains("what the connections can take: \(ratio) times as many notifications as the route has"))
        let most = Page.number(RouteCredit.maximum)
        #expect(text.contains("That is \(RouteCredit.minimum) to \(most) jobs, fewer of multicast jobs, and no more"))
        // A little more than one a second, so that the seconds are whole.
        #expect(Self.wanted(streams: 1_000, rate: 1.001) == 5)
        #expect(text.contains("no more than five seconds of the route's `rate`."))
    }

    @Test("Operating says how long a rate may hold a job, and so how large a fixed prefetch may be")
    func rate() {
        #expect(SlowJobs.longestHold == .seconds(300))
        #expect(text.contains("If a `rate` would hold a multicast job for more than five minutes, the rest of the job"))
        let jobs = Int(0.1 * (SlowJobs.longestHold / .seconds(1)))
        #expect(
            text.contains(
                "below \(SlowJobs.longestHold.components.seconds) s times the rate of a worker: at most \(jobs) jobs of "
                    + "one device token at `rate: 0.1`."))
    }

    @Test("Operating says how the memory for jobs is divided, and when lent memory goes back")
    func memory() {
        let budget = MemoryBudget(bytes: 64 << 20, queues: 4)
        #expect(budget.part * 4 == budget.bytes / 2 && budget.free == budget.bytes / 2)
        #expect(text.contains("Half of it is divided evenly among the queues. The other half is lent to queues that"))
        #expect(MemoryClaim.patience * 2 == .seconds(60))
        #expect(text.contains("that fill their part, and goes back after a minute at rest."))
    }
}
