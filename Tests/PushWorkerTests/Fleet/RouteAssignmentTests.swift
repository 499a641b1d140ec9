import Testing
import WorkerSettings

@testable import PushWorker

@Suite("Which workers serve which routes", .timeLimit(.minutes(1)))
struct RouteAssignmentTests {
    private static let routes = (1...300).map { "app-\($0)" }

    private func loads(_ workers: [String], routes: [String] = Self.routes) -> [String: Set<String>] {
        let assignment = RouteAssignment(workers: workers)
        return Dictionary(
            uniqueKeysWithValues: workers.map { worker in
                let served = assignment.served(by: worker, of: routes)
                return (worker, Set(routes.enumerated().filter { served.contains($0.offset) }.map(\.element)))
            })
    }

    @Test(
        "Every route has two workers, or all where there are fewer",
        arguments: [1, 2, 3, 6, 50, RouteShare.mostWorkers])
    func replicas(workers: Int) {
        let routes = Array(Self.routes.prefix(6_000 / workers))
        let loads = loads((1...workers).map { "worker-\($0)" }, routes: routes)
        for route in routes { #expect(loads.values.count { $0.contains(route) } == min(2, workers)) }
    }

    @Test("300 routes over 50 workers: each has 12 on average, none less than 3 or more than 24")
    func even() {
        for names in [(1...50).map(String.init), (1...50).map { "martlet-7f9c\($0)-x2x\($0 % 7)" }] {
            let counts = loads(names).values.map(\.count)
            #expect(counts.reduce(0, +) == 600)
            #expect((counts.min() ?? 0) >= 3 && (counts.max() ?? 0) <= 24, "\(counts.sorted())")
        }
    }

    @Test("A worker that leaves moves its own routes and no other, and one that comes takes only what is its own")
    func leaving() {
        let all = (1...50).map { "worker-\($0)" }
        let before = loads(all)
        for gone in ["worker-1", "worker-25", "worker-50"] {
            let after = loads(all.filter { $0 != gone })
            for (worker, routes) in after {
                let taken = routes.subtracting(before[worker] ?? [])
                #expect((before[worker] ?? []).isSubset(of: routes), "nobody else gives anything up")
                #expect(taken.isSubset(of: before[gone] ?? []))
            }
            #expect(after.values.map(\.count).reduce(0, +) == 600)
        }
    }

    @Test("Workers that do not know of each other serve more, and every route still has its two")
    func ignorance() {
        let all = (1...12).map { "worker-\($0)" }
        let known = loads(all)
        for (index, worker) in all.enumerated() {
            // Each knows of itself and of every third of the others.
            let seen = all.enumerated().filter { $0.offset % 3 == index % 3 && $0.offset != index }.map(\.element)
            let served = RouteAssignment(workers: seen).served(by: worker, of: Self.routes)
            for (position, route) in Self.routes.enumerated() where known[worker]?.contains(route) == true {
                #expect(served.contains(position))
            }
        }
    }

    @Test("Assignments are those of every other process and version")
    func fixed() {
        let served = RouteAssignment(fixed: 6).served(by: "2", of: (0..<12).map { "app-\($0)" })
        #expect((0..<12).filter { served.contains($0) } == [0, 3, 6])
        #expect(served.contains(nil), "jobs that nobody claims are answered by every worker")
    }
}
