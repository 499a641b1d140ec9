import BrokerClient
import EventLoop
import Glibc
import LocalStack
import PushModel
import Rig
import Testing
import Topology

// Workers that find their shares of the routes by themselves.
extension KillTests {
    private static let fleetApps = (1...12).map { LocalRun.App(route: "app-\($0)", topic: "com.example.app-\($0)") }

    /// Jobs for all routes in turn.
    private static func fleetJobs(_ count: Int) -> [RunJob] {
        (0..<count).map { number in
            RunJob(topic: fleetApps[number % fleetApps.count].topic, isRaw: number.isMultiple(of: 2))
        }
    }

    /// Asks the broker until its queues of jobs have consumers as wanted; every worker has one lane, and so one of each
    /// queue.
    ///
    /// - Returns: How many consumers these queues have together.
    @discardableResult
    private static func awaitConsumers(
        _ ring: KillRing, until isWanted: @escaping @Sendable ([Int]) -> Bool = { $0.allSatisfy { $0 == 2 } }
    ) async throws -> Int {
        try await BlockingWork.run("consumers") {
            let client = try ring.local.connect("fleet")
            defer { client.close() }
            let deadline = ContinuousClock.now.advanced(by: .seconds(90))
            while true {
                var counts: [Int] = []
                for app in fleetApps {
                    for queue in [
                        TopologyNames.jobQueue(route: app.route), TopologyNames.returnQueue(route: app.route),
                    ] {
                        counts.append(try client.depth(of: queue).consumers)
                    }
                }
                if isWanted(counts) { return counts.reduce(0, +) }
                guard ContinuousClock.now < deadline else { throw RingFailure("consumers of each queue: \(counts)") }
                // The broker has other work.
                poll(nil, 0, 100)
            }
        }
    }

    @Test(
        "share: auto: three workers serve each of 12 routes twice; one is killed, and each has two again: nothing is lost"
    )
    func fleet() async throws {
        try await KillRing.run(apps: Self.fleetApps, settings: "share: auto") { ring in
            let watch = try await ring.watch()
            let began = ContinuousClock.now
            var workers = try (1...3).map { try ring.local.startWorker("worker-\($0)") }
            let consumers = try await Self.awaitConsumers(ring)
            let settled = began.duration(to: .now)
            try await ring.publish(Self.fleetJobs(6_000), watch.audit)
            try await watch.until(finals: 6_000)

            async let published: Void = ring.publish(Self.fleetJobs(6_000), watch.audit)
            try await watch.until(finals: 7_500)
            let held = try await ring.jobCounts()
            workers[0].signal(SIGKILL)
            let killed = ContinuousClock.now
            #expect(try await ring.ending(of: workers[0], within: .seconds(10)) == .signalled(SIGKILL))
            workers.removeFirst()
            try await published
            try await Self.awaitConsumers(ring)
            let taken = killed.duration(to: .now)
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.expectClean(watch, mostExtra: held.unacknowledged)

            // One that comes takes its share, and one that leaves says so.
            workers.append(try ring.local.startWorker("worker-4"))
            try await Self.awaitConsumers(ring) { $0.contains(3) }
            try await Self.awaitConsumers(ring)
            workers[0].signal(SIGTERM)
            let left = ContinuousClock.now
            #expect(try await ring.ending(of: workers[0], within: .seconds(20)) == .exited(0))
            workers.removeFirst()
            try await Self.awaitConsumers(ring)
            #expect(left.duration(to: .now) < taken, "sooner than after its silence")
            print(
                "fleet: \(consumers) consumers of 72, settled in \(settled), after a kill in \(taken),",
                "after a farewell in \(left.duration(to: .now))")
            try await ring.stop(workers)
        }
    }
}
