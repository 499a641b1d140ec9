import PushWorker
import Testing

@testable import MartletCommands

@Suite("What workers' reports say together", .timeLimit(.minutes(1)))
struct FleetPictureTests {
    private static let now = StatusFixture.now

    private func picture(_ reports: [WorkerReport]) -> FleetPicture {
        reports.reduce(into: FleetPicture()) { $0.heard($1, at: Self.now) }
    }

    @Test("A rate is what came between a worker's last two reports, of its routes as well")
    func rates() throws {
        let first = StatusFixture.report("w", ago: 12_000)
        let second = StatusFixture.report("w", ago: 2_000) {
            $0.accepted = 1_500
            $0.routes[0].accepted = 1_100
        }
        let one = try #require(picture([first]).workers(at: Self.now).first)
        #expect(one.acceptedPerSecond == nil)
        // What comes late, or again, says nothing new.
        let picture = picture([first, second, second, first])
        let both = try #require(picture.workers(at: Self.now).first)
        #expect(both.acceptedPerSecond == 50)
        let routes = picture.routes(at: Self.now)
        #expect(routes.map(\.acceptedPerSecond) == [0, 50, 0], "chat, shop, unrouted")
    }

    @Test("A worker that took an earlier one's name counts from zero")
    func successor() throws {
        let successor = StatusFixture.report("w", ago: 1_000) {
            $0.startedAt += 5
            $0.accepted = 3
        }
        let worker = try #require(picture([StatusFixture.report("w"), successor]).workers(at: Self.now).first)
        #expect(worker.acceptedPerSecond == nil && worker.report.accepted == 3)
    }

    @Test(
        "A report from the future neither keeps a worker alive nor hides its later reports",
        arguments: [3_600_000, 90_000_000_000_000 - StatusFixture.now] as [Int64])
    func future(ahead: Int64) throws {
        let forged = StatusFixture.report("w", ago: -ahead) {
            if ahead > 3_600_000 { $0.startedAt += ahead }
        }
        var picture = picture([StatusFixture.report("w"), forged])
        let worker = try #require(picture.workers(at: Self.now).first)
        #expect(worker.reportedAt == Self.now && worker.condition(at: Self.now) == .ready)
        #expect(worker.condition(at: Self.now + 36_000) == .silent, "as if it had died after this report")
        #expect(picture.workers(at: Self.now + 300_001).isEmpty)
        let later = StatusFixture.report("w", ago: -10_000) { $0.reasons = ["blocked"] }
        picture.heard(later, at: Self.now + 10_000)
        let next = try #require(picture.workers(at: Self.now + 10_000).first)
        #expect(next.report == later && next.condition(at: Self.now + 10_000) == .notReady)
    }

    @Test(
        "A worker is ready, not ready, draining or silent, and is forgotten after a while",
        arguments: [
            (5_000, [], false, "ready"), (35_000, [], false, "ready"), (36_000, [], false, "silent"),
            (300_000, [], false, "silent"), (300_001, [], false, nil), (5_000, ["blocked"], false, "not ready"),
            (5_000, ["draining"], true, "draining"), (36_000, ["draining"], true, nil),
        ] as [(Int64, [String], Bool, String?)])
    func condition(_ ago: Int64, _ reasons: [String], _ isDraining: Bool, _ expected: String?) {
        let report = StatusFixture.report("w", ago: ago) {
            $0.reasons = reasons
            $0.isDraining = isDraining
        }
        let worker = picture([report]).workers(at: Self.now).first
        #expect(worker?.condition(at: Self.now).rawValue == expected)
    }

    @Test(
        "A worker that stopped and is shown no more is counted for a while, a silent one is not",
        arguments: [(35_000, true, 0), (36_000, true, 1), (300_000, true, 1), (300_001, true, 0), (36_000, false, 0)]
            as [(Int64, Bool, Int)])
    func left(_ ago: Int64, _ isDraining: Bool, _ count: Int) {
        let report = StatusFixture.report("w", ago: ago) { $0.isDraining = isDraining }
        #expect(picture([report, StatusFixture.report("other")]).left(at: Self.now) == count)
    }

    @Test("A route has its best state, the sum of its numbers, and every limit of its workers once")
    func routes() throws {
        let parked = StatusFixture.report("w-1") {
            $0.routes[0].state = "parked"
            $0.routes[0].reason = "Forbidden"
            $0.routes[0].inFlight = 1
        }
        let busy = StatusFixture.report("w-2") {
            $0.routes[0].limitedBy = "streams"
            $0.routes[0].inFlight = 500
            $0.routes[0].waiting = 7
        }
        let silent = StatusFixture.report("w-3", ago: 60_000) { $0.routes[0].inFlight = 1_000 }
        let shop = try #require(picture([parked, busy, silent]).routes(at: Self.now).first { $0.name == "shop" })
        #expect(shop.state == "ready" && shop.reason == nil && shop.troubled == ["w-1"])
        #expect(shop.workers == ["w-1", "w-2"] && shop.limits == ["streams"])
        #expect(shop.inFlight == 501 && shop.waiting == 7 && shop.connections == 4)
        let alone = try #require(picture([parked]).routes(at: Self.now).first { $0.name == "shop" })
        #expect(alone.state == "parked" && alone.reason == "Forbidden" && alone.troubled == [])
    }

    @Test("Failures of all workers are added up, the most frequent first")
    func failures() {
        func failing(_ name: String, _ counts: [(String, String?, Int)]) -> WorkerReport {
            StatusFixture.report(name) {
                $0.failures = counts.map { WorkerReport.Failure(outcome: $0.0, reason: $0.1, count: $0.2) }
            }
        }
        let picture = picture([
            failing("w-1", [("rejected", "BadTopic", 2), ("expired", nil, 1)]),
            failing("w-2", [("rejected", "BadTopic", 3), ("dead_token", "Unregistered", 9)]),
        ])
        #expect(
            picture.failures(at: Self.now).map { "\($0.outcome) \($0.reason ?? "-") \($0.count)" } == [
                "dead_token Unregistered 9", "rejected BadTopic 5", "expired - 1",
            ])
    }
}
