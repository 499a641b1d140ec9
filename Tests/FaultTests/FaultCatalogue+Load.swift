import APNSSimulator
import BrokerClient
import EventLoop
import Glibc
import LocalStack
import RabbitMQ
import Rig
import Topology

// Many workers, many jobs, a long time.
extension FaultCatalogue {
    /// Faults of this kind.
    static let load = [
        Fault(
            49, name: "many workers reconnect at once",
            expects: "Spread their connects; all are ready within a minute, or as soon as their broker manages",
            isLong: true,
            setup: {
                $0.jobs = 0
                $0.workers = 0
            }
        ) { ring in try await stampede(ring, of: FaultSelection.crowd) },
        Fault(
            50, name: "rolling restart", expects: "Workers come and go under load, and nothing is pushed twice",
            isLong: true,
            setup: {
                $0.jobs = 500
                $0.workers = 2
                $0.mix()
            }
        ) { ring in
            let duration = FaultSelection.duration ?? .seconds(600)
            var restarts = 0
            try await ring.underLoad(of: 100) {
                let end = ContinuousClock.now.advanced(by: duration)
                while ContinuousClock.now < end {
                    let next = ContinuousClock.now.advanced(by: .seconds(10))
                    let old = try ring.worker
                    let new = try ring.startWorker()
                    try await ring.until("the new worker is ready") { new.isReady }
                    old.process.signal(SIGTERM)
                    try await ring.retire(old, endingWith: .exited(0))
                    restarts += 1
                    try await ring.endure(max(.zero, ContinuousClock.now.duration(to: next)))
                }
            }
            ring.note("\(restarts) restarts in \(duration.components.seconds) s")
        },
        Fault(
            54, name: "one app floods its queue", expects: "Other apps' notifications arrive as before",
            setup: {
                $0.neighbour = true
                $0.jobs = 0
            }
        ) { ring in
            try await ring.publish(16_000, taking: 2_000...4_000)
            // Behind the flood it would take many seconds. Publishing that is work for this machine alone.
            ring.neighbour?.judgeFromNow()
            try await ring.judgeNeighbour()
            let backlog = try await ring.local.jobCounts().total
            ring.expect(backlog > 1_000, "the flood was over too soon: the run says nothing")
            ring.note("\(backlog) waiting")
        },
    ]

    /// Starts very many workers, restarts their broker, and reads from its log when they came back.
    private static func stampede(_ ring: FaultRing, of crowd: Int) async throws {
        for first in stride(from: 0, to: crowd, by: 10) {
            let some = try (first..<min(first + 10, crowd)).map { _ in try ring.startWorker() }
            try await ring.until("workers are ready") { some.allSatisfy(\.isReady) }
        }
        ring.note("\(ring.workers.reduce(0) { $0 + $1.ownMemory } / max(1, crowd)) MiB of its own each")
        let lane = try await laneTime(ring)
        try await ring.strike { try $0.broker.restart() }
        try await ring.awaitReconnected()
        // The broker's own log leaves lines out when they are many.
        let logs = ring.workers.map(\.log)
        let each = 2
        let times = logs.flatMap { moments(of: "connected to the broker", in: $0).dropFirst(each) }.sorted()
        ring.expect(times.count >= crowd * each, "\(times.count) connections of \(crowd) workers came back")
        let back = times.first ?? 0
        let spread = (times.last ?? 0) - back
        let busiest = times.indices.map { start in times[start...].prefix { $0 < times[start] + 1 }.count }.max() ?? 0
        ring.note("\(times.count) connects of \(crowd) workers within \(spread.rounded()) s")
        ring.note("at most \(busiest) in a second")
        // Fewer may be back sooner.
        if crowd >= 500 { ring.expect(spread >= 10, "\(crowd) workers came back within \(spread) s") }
        // To ask hundreds of workers takes longer than some of them took.
        let ready = logs.compactMap { moments(of: "the worker is ready again", in: $0).last }
        // A worker that was back soon never said that it was not ready.
        if crowd >= 500 { ring.expect(ready.count == crowd, "\(ready.count) of \(crowd) workers are ready again") }
        let slowest = Duration.seconds(max(ready.max() ?? back, back + spread) - back)
        let atOnce = lane * crowd
        ring.note("the last is ready \(FaultBench.seconds(slowest)) s after the first connect")
        ring.note("as many lanes one after the other take \(FaultBench.seconds(atOnce)) s")
        ring.expect(
            slowest <= max(.seconds(60), atOnce * 2), "the last was ready after \(FaultBench.seconds(slowest)) s")
        // A queue takes its time to let hundreds of consumers go: not all at once.
        while ring.workers.count > 10 {
            let some = ring.workers.suffix(10)
            for worker in some { worker.process.signal(SIGTERM) }
            for worker in some { try await ring.retire(worker, endingWith: .exited(0)) }
        }
    }

    /// How long the broker takes for what a lane opens, one connection after the other, on this machine, which hundreds
    /// of workers keep busy although they have no jobs; an average.
    private static func laneTime(_ ring: FaultRing) async throws -> Duration {
        let queue = TopologyNames.jobQueue(route: ring.setup.apps[0].route)
        return try await BlockingWork.run("lanes") {
            let count = 25
            let began = ContinuousClock.now
            for _ in 0..<count {
                let endpoint = try AMQPEndpoint.parse(uri: ring.local.broker.uri)
                let publishing = try AMQPBlockingClient.connectToPublish(
                    to: try BrokerTarget.find(endpoint), clientName: "publish", patience: .seconds(30))
                let consuming = try ring.local.connect("consume")
                try consuming.startConsuming(queue: queue)
                consuming.close()
                publishing.close()
            }
            return began.duration(to: .now) / count
        }
    }

    /// When a worker logged something, in seconds since midnight.
    private static func moments(of text: String, in log: String) -> [Double] {
        log.split(separator: "\n").filter { $0.contains(text) }.compactMap { line in
            // {"time":"2026-01-31T23:59:59.123Z",…
            let time = line.dropFirst(20).prefix(12).split(separator: ":").compactMap { Double($0) }
            return time.count == 3 ? time[0] * 3_600 + time[1] * 60 + time[2] : nil
        }
    }
}
