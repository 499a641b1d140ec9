import APNSClient
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("On which lanes a route lives", .timeLimit(.minutes(1)))
struct LaneAssignmentTests {
    @Test(
        "All lanes while there are no more routes than lanes, else one; never more lanes than connections",
        arguments: [
            // Lanes, routes, lanes wanted, connections; lanes it gets.
            (2, 1, nil, nil, 2), (2, 2, nil, nil, 2), (2, 3, nil, nil, 1), (1, 1, nil, nil, 1), (16, 4, nil, nil, 8),
            (16, 4, 16, nil, 8), (16, 4, 16, 16, 16), (16, 4, nil, 16, 16), (16, 4, nil, 12, 12), (12, 4, nil, 64, 12),
            (64, 4, nil, 64, 16), (16, 40, 12, nil, 8),
            (2, 3, 2, nil, 2), (4, 200, 3, nil, 3), (4, 1, 1, nil, 1), (2, 1, 9, nil, 2),
            (4, 1, nil, 1, 1), (4, 1, nil, 3, 3), (4, 1, 3, 2, 2), (4, 1, nil, 64, 4),
        ] as [(Int, Int, Int?, Int?, Int)])
    func count(_ row: (lanes: Int, routes: Int, wanted: Int?, connections: Int?, expected: Int)) {
        let shares = LaneAssignment(lanes: row.lanes, routes: row.routes).shares(
            of: "app", lanes: row.wanted.map { .fixed($0) } ?? .automatic,
            connections: row.connections.map { .fixed($0) } ?? .automatic)
        #expect(shares.count == row.expected)
        #expect(Set(shares.map(\.lane)).count == row.expected, "no lane twice")
        #expect(shares.allSatisfy { (0..<row.lanes).contains($0.lane) })
    }

    @Test(
        "Connections are dealt out, and no lane goes without",
        arguments: [
            (2, nil, [.automatic(maximum: 4), .automatic(maximum: 4)]),
            (3, nil, [.automatic(maximum: 3), .automatic(maximum: 3), .automatic(maximum: 2)]),
            (1, nil, [.automatic(maximum: 8)]), (3, 4, [.fixed(2), .fixed(1), .fixed(1)]), (2, 1, [.fixed(1)]),
            (9, nil, [APNSConnectionCount](repeating: .automatic(maximum: 1), count: 8)),
        ] as [(Int, Int?, [APNSConnectionCount])])
    func dealing(_ row: (lanes: Int, connections: Int?, expected: [APNSConnectionCount])) {
        let shares = LaneAssignment(lanes: row.lanes, routes: 1).shares(
            of: "app", lanes: .automatic, connections: row.connections.map { .fixed($0) } ?? .automatic)
        #expect(shares.map(\.connections) == row.expected)
    }

    @Test("A route that asks for many lanes gets no more connections for it than one that does not", arguments: 1...16)
    func total(_ wanted: Int) {
        let shares = LaneAssignment(lanes: 16, routes: 1).shares(
            of: "app", lanes: .fixed(wanted), connections: .automatic)
        let most = shares.reduce(0) { sum, share in
            switch share.connections {
            case .fixed(let count), .automatic(maximum: let count): sum + count
            }
        }
        #expect(most == APNSPoolConfiguration.automaticMaximum)
    }

    @Test("Many routes are spread over the lanes, the same in every worker")
    func spread() {
        let assignment = LaneAssignment(lanes: 4, routes: 200)
        func lane(_ number: Int) -> Int? {
            assignment.shares(of: "app-\(number)", lanes: .automatic, connections: .automatic).first?.lane
        }
        let lanes = (0..<200).map(lane)
        for index in 0..<4 { #expect(lanes.count { $0 == index } > 20) }
        #expect(lanes == (0..<200).map(lane))
        #expect(assignment.shares(of: "example", lanes: .automatic, connections: .automatic).map(\.lane) == [1])
    }
}
