import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The report of a lane's routes", .timeLimit(.minutes(1)))
struct LaneReportTests: RouteSuite {
    /// Where statuses and counters are kept: an array that shares its elements has the same place.
    private func places(_ report: LaneReport) -> [UnsafeRawPointer?] {
        [
            report.statuses.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) },
            report.counters.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) },
        ]
    }

    private func tell(_ report: inout LaneReport, of route: Route) {
        let (status, counters) = route.report(at: Self.moment(1), isDraining: false)
        report.take(status, counters, of: route)
    }

    @Test("a route's report that is as before leaves what was published alone, and any other replaces it")
    func repeats() throws {
        let routes = [try route(number: 0), try route(number: 1, position: 1)]
        var report = LaneReport(routes, numbers: 2)
        for route in routes { tell(&report, of: route) }
        let (statuses, counters, before) = (report.statuses, report.counters, places(report))
        for route in routes { tell(&report, of: route) }
        #expect(places(report) == before, "nothing was copied")
        routes[1].serve(false)
        routes[1].tally.counters.jobDuration.record(microseconds: 7)
        tell(&report, of: routes[1])
        #expect(report.statuses.map(\.?.state) == [.starting, .unassigned])
        #expect(statuses.map(\.?.state) == [.starting, .starting])
        #expect(report.counters.map(\.?.jobDuration.count) == [0, 1])
        #expect(counters.map(\.?.jobDuration.count) == [0, 0])
    }

    @Test("a route that has left is told of no more")
    func left() throws {
        let route = try route()
        var report = LaneReport([route], numbers: 1)
        tell(&report, of: route)
        route.leave()
        #expect(route.endOnceDrained(at: Self.moment(1)) && route.letGo())
        report.remove(route)
        tell(&report, of: route)
        #expect(report.statuses.allSatisfy { $0 == nil } && report.counters.allSatisfy { $0 == nil })
    }

    @Test("a turn that comes too soon after a report owes the next one, which is left when its time comes")
    func interval() {
        var report = LaneReport([], numbers: 0)
        let start: MonotonicTime = 1_000_000_000
        let next = start + LaneReport.interval
        let first = report.isDue(now: start)
        #expect(first && report.dueAt == nil)
        let early = report.isDue(now: start + (LaneReport.interval - .nanoseconds(1)))
        #expect(!early && report.dueAt == next)
        let late = report.isDue(now: next)
        #expect(late && report.dueAt == nil)
    }
}
