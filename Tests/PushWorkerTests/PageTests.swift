import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about workers", .timeLimit(.minutes(1)))
struct PageTests {
    @Test("Operating lists the metrics that a worker writes, with their types, and no other")
    func metrics() throws {
        let text = sampleMetrics(isDetailed: true).text(
            sampleSnapshots(), routes: sampleRoutes, fleet: FleetStatus(workers: 2), control: ControlStatus())
        let written = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("# TYPE ") }.map { String($0.dropFirst("# TYPE ".count)) }
        let rows = try Page(documentation: "Operating").rows("family", in: "/metrics")
        let listed = rows.flatMap { row in
            // "counter, *sum*": the type comes first.
            Page.quoted(row[0]).map { "\($0) \(row[1].prefix { $0 != "," })" }
        }
        #expect(written.count > 50)
        #expect(listed.sorted() == written.sorted())
    }

    @Test("Operating lists the states and limits of routes, and no other")
    func routes() throws {
        let page = try Page(documentation: "Operating")
        #expect(page.names("state", in: "/readyz").sorted() == RouteState.allCases.map(\.rawValue).sorted())
        #expect(page.names("`limited_by`", in: "/readyz") == RouteLimit.allCases.map(\.rawValue))
    }
}
