import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("How many messages a route may take", .timeLimit(.minutes(1)))
struct RoutePrefetchTests {
    typealias Situation = RoutePrefetch.Situation
    typealias Window = RoutePrefetch.Window

    /// A situation, and the prefetch that it leads to.
    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var situation: Situation
        var former = Window(normal: 100)
        var current = Window(normal: 100, high: 0)
        var wanted: Int
    }

    static let rows = [
        Row(testDescription: "a working route", situation: Situation(streams: 1_000), wanted: 1_500),
        Row(
            testDescription: "a small change of the streams",
            situation: Situation(streams: 100), former: Window(normal: 120), current: Window(normal: 120), wanted: 120),
        Row(
            testDescription: "twice the streams", situation: Situation(streams: 200), former: Window(normal: 120),
            current: Window(normal: 120), wanted: 300),
        Row(testDescription: "no consumer yet", situation: Situation(streams: 90), current: Window(), wanted: 135),
        Row(testDescription: "a parked route", situation: Situation(intake: .none), wanted: 0),
        Row(
            testDescription: "a parked route that looks for expired jobs",
            situation: Situation(intake: .none, isLooking: true), wanted: ExpiryLook.window),
        Row(
            testDescription: "the same, one job at a time",
            situation: Situation(intake: .none, isNarrow: true, isLooking: true),
            wanted: 1),
        Row(testDescription: "a probe", situation: Situation(intake: .one), wanted: 1),
        Row(testDescription: "a probe that is here", situation: Situation(intake: .one, isQuiet: false), wanted: 0),
        Row(
            testDescription: "a suspect as the probe", situation: Situation(intake: .one, hasSuspects: true), wanted: 0),
        Row(testDescription: "suspects among a window", situation: Situation(hasSuspects: true), wanted: 0),
        Row(
            testDescription: "suspects that come one at a time",
            situation: Situation(hasSuspects: true, isNarrow: true),
            current: Window(normal: 1), wanted: 1),
        Row(testDescription: "the first jobs of a generation", situation: Situation(isNarrow: true), wanted: 1),
        Row(testDescription: "the job that opens a connection", situation: Situation(isUnconnected: true), wanted: 1),
        Row(
            testDescription: "jobs whose time has not come",
            situation: Situation(isUnconnected: true, isSendingOn: true), wanted: RouteCredit.minimum),
    ]

    /// The prefetch of a route whose jobs are small.
    private func prefetch(takesHighFirst: Bool = false, rate: Double? = nil) -> RoutePrefetch {
        let prefetch = RoutePrefetch(
            RouteCredit(fixed: nil, rate: rate), takesHighFirst: takesHighFirst, budget: SharedMemoryBudget(), queues: 2
        )
        for jobClass in JobClass.allCases {
            for _ in 0..<300 { prefetch.arrived(jobClass, notifications: 1, bytes: 500) }
        }
        return prefetch
    }

    @Test("It follows the breaker, suspects and connections", arguments: rows)
    func follows(row: Row) {
        let wanted = prefetch().wanted(in: row.situation, instead: row.former, current: row.current)
        #expect(wanted == Window(normal: row.wanted))
    }

    @Test("The queue of high jobs has a number of its own while all jobs are taken, and else that of the others")
    func high() {
        let prefetch = prefetch(takesHighFirst: true)
        let all = prefetch.wanted(in: Situation(streams: 1_000), instead: Window(), current: Window())
        #expect(all == Window(normal: 1_500, high: 1_500))
        let kept = Window(normal: 1_400, high: 1_600)
        #expect(prefetch.wanted(in: Situation(streams: 1_000), instead: kept, current: kept) == kept)
        let narrow = prefetch.wanted(in: Situation(isNarrow: true), instead: kept, current: kept)
        #expect(narrow == Window(normal: 1))
    }

    @Test("A rate bounds what may wait here, and the queue of high jobs counts on its part of it")
    func rate() {
        let prefetch = prefetch(takesHighFirst: true)
        prefetch.limit(to: 60)
        let wanted = prefetch.wanted(in: Situation(streams: 1_000), instead: Window(), current: Window())
        #expect((299...300).contains(wanted.normal), "five seconds of the rate")
        #expect(wanted.high.map { $0 < wanted.normal } == true)
        prefetch.limit(to: nil)
        #expect(prefetch.wanted(in: Situation(streams: 1_000), instead: Window(), current: Window()).normal == 1_500)
    }
}
