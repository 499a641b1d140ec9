import BrokerClient
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing
import Topology
import WorkerSettings

@Suite("Workers that find their shares of the routes by themselves", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct FleetTests {
    private static let apps = (1...12).map { BrokerStack.App(route: "app-\($0)", topic: "com.example.app-\($0)") }

    /// Starts a worker under a name of its own.
    private func worker(_ name: String, _ stack: BrokerStack, share: RouteShare? = nil) throws -> LiveWorker {
        var configuration = stack.configuration
        configuration.instance = name
        if let share { configuration.share = share }
        return try LiveWorker(configuration)
    }

    /// The routes that are `ready` in each worker, once every one is in as many as wanted.
    private func portions(
        of workers: [LiveWorker], _ stack: BrokerStack, each wanted: Int, within limit: Duration = .seconds(60)
    ) throws -> [Set<String>] {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while true {
            let portions = workers.map { worker in
                Set(worker.worker.readiness().routes.filter { $0.state == "ready" }.map(\.name))
            }
            let counts = Self.apps.map { app in portions.count { $0.contains(app.route) } }
            if counts.allSatisfy({ $0 == wanted }) { return portions }
            guard ContinuousClock.now < deadline else { throw RingFailure("workers of each route: \(counts)") }
            BrokerStack.pause()
        }
    }

    /// Pushes some jobs of each route, and expects each to be accepted.
    private func push(_ stack: BrokerStack, _ prefix: String) throws {
        // Each time another client, because the fleet may take longer than the broker waits for a silent one.
        let client = try JobClient(stack)
        defer { client.close() }
        let jobs = Self.apps.flatMap { app in
            (0..<5).map { number in
                (
                    job: TestJob.raw(token: .text(Tokens.good)).keyed("development.normal.\(app.topic)"),
                    correlation: "\(prefix) \(app.route) \(number)"
                )
            }
        }
        try client.publish(jobs)
        for job in jobs { #expect(try client.result(job.correlation).result.outcome == "accepted") }
    }

    @Test(
        "Where the fleet's queue is missing every worker serves every route and says why; once it is there, they share")
    func missingQueue() async throws {
        let stack = try await BrokerStack.start("fleet", apps: Self.apps, settings: "share: auto")
        let administrator = try stack.connect()
        defer { administrator.close() }
        try administrator.delete(queue: TopologyNames.fleetQueue)
        let workers = try (1...3).map { try worker("worker-\($0)", stack) }
        let undecided = workers[0].worker.readiness()
        #expect(!undecided.isReady && undecided.routes.allSatisfy { $0.name == "unrouted" || $0.state != "ready" })
        _ = try portions(of: workers, stack, each: 3)
        for worker in workers {
            let readiness = try stack.readiness(of: worker) { $0.isReady }
            let detail = try #require(readiness.fleet?.detail)
            #expect(detail.contains("every route is served") && detail.contains(TopologyNames.fleetQueue), "\(detail)")
        }
        // Everyone has connections to APNs for what it served once.
        try push(stack, "before")

        var arguments = FieldTable()
        arguments.entries = [FieldTable.Entry(name: Array("x-queue-type".utf8), value: .text("stream"))]
        _ = try administrator.declareQueue(TopologyNames.fleetQueue, exclusive: false, arguments: arguments)
        try administrator.bind(queue: TopologyNames.fleetQueue, exchange: TopologyNames.fleet, routingKey: "")
        let portions = try portions(of: workers, stack, each: 2)
        for (worker, portion) in zip(workers, portions) {
            let readiness = try stack.readiness(of: worker) { readiness in
                // Connections of routes that are others' now are closed.
                readiness.routes.allSatisfy { $0.state != "unassigned" || $0.connections == 0 }
            }
            #expect(readiness.isReady && readiness.fleet?.workers == 3 && readiness.fleet?.detail == nil)
            #expect(Set(readiness.routes.filter { $0.state != "unassigned" }.map(\.name)) == portion)
            #expect(portion.contains("unrouted"))
        }
        try push(stack, "after")
        #expect(try stack.leftovers() == [:])
        for worker in workers { try await worker.stop() }
    }

    @Test("Workers of a fixed fleet serve each route twice, without a queue for reports")
    func fixed() async throws {
        let stack = try await BrokerStack.start("fleet-fixed", apps: Self.apps)
        let workers = try (1...4).map { try worker("w-\($0)", stack, share: .fixed(number: $0, of: 4)) }
        let portions = try portions(of: workers, stack, each: 2)
        #expect(portions.allSatisfy { (2...12).contains($0.count) && $0.contains("unrouted") })
        let asking = try stack.connect()
        defer { asking.close() }
        for app in Self.apps {
            let consumers = try asking.depth(of: TopologyNames.jobQueue(route: app.route)).consumers
            #expect(consumers == 2)
        }
        try push(stack, "fixed")
        for worker in workers {
            let readiness = worker.worker.readiness()
            #expect(readiness.isReady && readiness.fleet == nil)
            #expect(readiness.routes.allSatisfy { $0.state != "unassigned" || $0.connections == 0 })
        }
        for worker in workers { try await worker.stop() }
    }
}
