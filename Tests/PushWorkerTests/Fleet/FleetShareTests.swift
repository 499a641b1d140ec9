import EventLoop
import Testing

@testable import PushWorker

@Suite("Which routes a worker serves that finds its share by itself", .timeLimit(.minutes(1)))
struct FleetShareTests {
    private static let routes = (1...12).map { "app-\($0)" }
    private static let own = report("a")

    private static func report(_ name: String, startedAt: Int64 = 1, isLeaving: Bool = false) -> FleetReport {
        FleetReport(instance: name, startedAt: startedAt, isLeaving: isLeaving)
    }

    /// A worker whose time a test drives: each second it reports where that is due, and decides.
    private struct Rig {
        var share = FleetShare(FleetShareTests.own, routes: FleetShareTests.routes, now: MonotonicTime(nanoseconds: 0))
        var second = 0
        /// Others that report every five seconds.
        var others: [String] = []
        /// Whether what this worker reports comes back.
        var isHeard = true
        /// Whether its lanes reach the broker.
        var isWorking = true
        var isConnected = false
        private(set) var served = ServedRoutes([])

        var now: MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(second) }
        /// The routes that are served now.
        var routes: Set<Int> { Set(FleetShareTests.routes.indices.filter { served.contains($0) }) }

        mutating func connect() {
            isConnected = true
            share.connected()
            decide()
        }

        mutating func lose(_ reason: String = "gone", isRefused: Bool = false) {
            isConnected = false
            share.failed(reason, isRefused: isRefused, now: now)
            decide()
        }

        mutating func decide() { served = share.decide(now: now, isWorking: isWorking) }

        mutating func hear(_ report: FleetReport?) {
            share.heard(report, now: now)
            decide()
        }

        mutating func pass(_ seconds: Int) {
            for _ in 0..<seconds {
                second += 1
                if isConnected, second % 5 == 0 {
                    for other in others { share.heard(FleetShareTests.report(other), now: now) }
                    if isWorking {
                        share.reported(now: now)
                        if isHeard { share.heard(FleetShareTests.own, now: now) }
                    }
                }
                decide()
            }
        }
    }

    /// What worker `a` serves among some others.
    private func portion(_ others: [String]) -> Set<Int> {
        let served = RouteAssignment(workers: others).served(by: "a", of: Self.routes)
        return Set(Self.routes.indices.filter { served.contains($0) })
    }

    /// A worker that knows two others.
    private func settled(_ others: [String] = ["b", "c"]) -> Rig {
        var rig = Rig()
        rig.others = others
        rig.connect()
        rig.pass(14)
        #expect(rig.routes == portion(others) && rig.share.workers == others.count + 1 && !rig.share.isUndecided)
        return rig
    }

    @Test("It serves nothing until it has heard the others, and then its share at once")
    func start() {
        var rig = Rig()
        rig.others = ["b", "c"]
        rig.connect()
        #expect(rig.share.isUndecided && rig.share.status.isUndecided)
        rig.pass(11)
        #expect(
            rig.routes.isEmpty && rig.share.isUndecided, "its report came back after 5 s, and it listens for 7 s more")
        rig.pass(1)
        #expect(rig.routes == portion(["b", "c"]) && !rig.routes.isEmpty && rig.routes.count < 12)
        #expect(rig.share.status == FleetStatus(workers: 3))
    }

    @Test("It shares the routes it has by then: a new one is shared like the others, a removed one is nobody's")
    func otherRoutes() throws {
        var rig = settled()
        let before = rig.routes
        var routes: [String?] = Self.routes
        let gone = before.sorted()[0]
        routes[gone] = nil
        routes += [nil] + (1...12).map { "new-\($0)" }
        rig.share.routesChanged(routes)
        rig.decide()
        let expected = RouteAssignment(workers: ["b", "c"]).served(by: "a", of: routes)
        let served = Set(routes.indices.filter { rig.served.contains($0) })
        #expect(served == Set(routes.indices.filter { expected.contains($0) }))
        #expect(served.intersection(Self.routes.indices) == before.subtracting([gone]))
        #expect(rig.share.assignedCount == served.count && served.count > before.count)
        // A number that goes to another route is decided for that route.
        let foreign = (1...100).lazy.map { "other-\($0)" }.first {
            !RouteAssignment(workers: ["b", "c"]).served(by: "a", of: [$0]).contains(0)
        }
        routes[before.sorted()[1]] = try #require(foreign)
        rig.share.routesChanged(routes)
        rig.decide()
        #expect(!rig.served.contains(before.sorted()[1]))
    }

    @Test("Where every route is served, so is a new one")
    func newRoute() {
        var rig = settled(["b"])
        rig.share.routesChanged(Self.routes + ["new"])
        rig.decide()
        #expect(rig.served == .all)
    }

    @Test("Alone, or with one other, it serves every route")
    func few() {
        for others in [[], ["b"]] { #expect(settled(others).routes.count == 12) }
    }

    @Test("What another worker leaves is taken up at once when it says so, and after 15 to 20 s of silence when not")
    func leaving() {
        var polite = settled()
        polite.others = ["b"]
        polite.hear(Self.report("c", isLeaving: true))
        #expect(polite.routes.count == 12 && polite.share.workers == 2)
        var killed = settled()
        killed.others = ["b"]
        // Its last report came 4 s ago.
        killed.pass(10)
        #expect(killed.routes == portion(["b", "c"]))
        killed.pass(6)
        #expect(killed.routes.count == 12)
    }

    @Test("A route that became another's is served for ten seconds more, one that comes back meanwhile without a break")
    func handover() {
        var rig = settled(["b"])
        rig.others = ["b", "c"]
        rig.hear(Self.report("c"))
        rig.pass(9)
        #expect(rig.routes.count == 12)
        rig.hear(Self.report("c", isLeaving: true))
        rig.pass(0)
        rig.hear(Self.report("c"))
        rig.pass(9)
        #expect(rig.routes.count == 12, "the ten seconds begin again")
        rig.pass(1)
        #expect(rig.routes == portion(["b", "c"]))
    }

    @Test("Where reports are impossible although the lanes work, every route is served, and the reason is told")
    func blind() {
        for (isRefused, seconds) in [(true, 5), (false, 15)] {
            var rig = settled()
            rig.lose("404 NOT_FOUND", isRefused: isRefused)
            rig.pass(seconds - 1)
            #expect(rig.routes == portion(["b", "c"]))
            rig.pass(1)
            #expect(rig.routes.count == 12 && rig.share.blindness == "404 NOT_FOUND")
            #expect(rig.share.status.detail?.contains("404 NOT_FOUND") == true && !rig.share.status.isUndecided)
            rig.connect()
            rig.pass(12)
            #expect(rig.routes.count == 12, "until it has listened")
            rig.pass(20)
            #expect(rig.routes == portion(["b", "c"]) && rig.share.blindness == nil)
        }
        var fresh = Rig()
        fresh.lose("403 ACCESS_REFUSED", isRefused: true)
        fresh.pass(5)
        #expect(fresh.routes.count == 12 && !fresh.share.isUndecided)
    }

    @Test(
        "While the lanes do not reach the broker either nothing changes, so that its return brings no worker every route"
    )
    func outage() {
        var rig = settled()
        rig.isWorking = false
        rig.lose()
        rig.pass(600)
        #expect(rig.routes == portion(["b", "c"]))
        rig.connect()
        rig.isWorking = true
        rig.pass(60)
        #expect(rig.routes == portion(["b", "c"]) && rig.share.blindness == nil)
    }

    @Test("While nobody can report, as during an alarm, nobody is gone; afterwards all get time to report again")
    func alarm() {
        var rig = settled()
        (rig.others, rig.isWorking) = ([], false)
        rig.pass(600)
        #expect(rig.routes == portion(["b", "c"]))
        rig.isWorking = true
        // This worker is the first to report again.
        rig.pass(7)
        rig.others = ["b", "c"]
        rig.pass(30)
        #expect(rig.routes == portion(["b", "c"]) && rig.share.workers == 3)
    }

    @Test("A worker whose own reports do not come back serves every route until they do")
    func silence() {
        var rig = settled()
        rig.isHeard = false
        rig.pass(45)
        #expect(rig.routes == portion(["b", "c"]))
        rig.pass(5)
        #expect(rig.routes.count == 12 && rig.share.blindness?.contains("do not come back") == true)
        rig.pass(100)
        #expect(rig.routes.count == 12)
        rig.isHeard = true
        rig.pass(30)
        #expect(rig.routes == portion(["b", "c"]) && rig.share.blindness == nil)
    }

    @Test("What is not a report is ignored and counted, and a worker of the same name is not another")
    func ignored() {
        var rig = settled()
        for _ in 0..<3 { rig.hear(nil) }
        rig.hear(Self.report("a", startedAt: 99))
        rig.hear(Self.report("a", startedAt: 99, isLeaving: true))
        #expect(rig.share.ignored == 3 && rig.share.workers == 3 && rig.routes == portion(["b", "c"]))
    }
}
