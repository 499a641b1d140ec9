import PushWorker
import Topology

@testable import MartletCommands

/// A fleet in which nothing needs a person: two routes, two workers, one node.
enum StatusFixture {
    static let now: Int64 = 1_795_548_000_000

    /// The queues of the routes `shop` and `chat`, with all settings that advice depends on.
    static func queues() -> [BrokerActivity.Queue] {
        let refusing: [String: TopologyValue] = [
            "overflow": .text("reject-publish"), "max-length-bytes": .integer(1_000_000),
        ]
        var queues = ["shop", "chat", "unrouted"].flatMap { route in
            ["", ".return"].map { suffix in
                BrokerActivity.Queue(
                    name: "apns.q.jobs.\(route)\(suffix)", consumers: 2, settings: suffix.isEmpty ? refusing : [:])
            }
        }
        queues.append(
            BrokerActivity.Queue(
                name: "apns.q.retry.2s",
                settings: [
                    "message-ttl": .integer(2_000), "dead-letter-exchange": .text("apns.return"),
                    "overflow": .text("reject-publish"),
                ]))
        queues += ["apns.q.results", "apns.q.dead"].map { BrokerActivity.Queue(name: $0, settings: refusing) }
        queues.append(
            BrokerActivity.Queue(
                name: "apns.q.results.team", ready: 7,
                settings: ["overflow": .text("drop-head"), "max-length-bytes": .integer(1_000_000)]))
        queues.append(BrokerActivity.Queue(name: "apns.q.results.unclaimed"))
        queues.append(BrokerActivity.Queue(name: "apns.q.dead.tokens", ready: 55))
        queues.append(BrokerActivity.Queue(name: "apns.q.fleet", kind: "stream", leader: nil, ready: 12))
        queues.append(BrokerActivity.Queue(name: "apns.q.reply.guest.1", kind: "classic", leader: nil, ready: 1))
        return queues.sorted { $0.name < $1.name }
    }

    /// A worker's report, five seconds old.
    static func report(
        _ name: String, program: String = "0.1.0", ago: Int64 = 5_000, _ change: (inout WorkerReport) -> Void = { _ in }
    ) -> WorkerReport {
        var report = WorkerReport(
            instance: name, program: program, startedAt: now - 3_600_000, sentAt: now - ago, accepted: 1_000,
            routes: [
                WorkerReport.Route(name: "shop", state: "ready", connections: 2, accepted: 600),
                WorkerReport.Route(name: "chat", state: "ready", connections: 1, accepted: 400),
                WorkerReport.Route(name: "unrouted", state: "ready"),
            ])
        change(&report)
        return report
    }

    /// Everything as it should be, with something changed.
    static func facts(
        reports: [WorkerReport] = [report("w-1"), report("w-2")], _ change: (inout StatusFacts) -> Void = { _ in }
    ) -> StatusFacts {
        var facts = StatusFacts(
            at: now, place: "http://127.0.0.1:15672",
            activity: BrokerActivity(
                version: "3.10.8", queues: queues(),
                nodes: [
                    BrokerActivity.Node(
                        name: "rabbit@one", memory: 160 << 20, memoryLimit: 4 << 30, freeDisk: 59 << 30)
                ]))
        for report in reports { facts.fleet.heard(report, at: now) }
        change(&facts)
        return facts
    }
}

extension StatusFacts {
    /// Changes the queue with a name.
    mutating func queue(_ name: String, _ change: (inout BrokerActivity.Queue) -> Void) {
        for index in activity.queues.indices where activity.queues[index].name == name {
            change(&activity.queues[index])
        }
    }

    /// Changes every queue that workers take jobs from.
    mutating func jobQueues(_ change: (inout BrokerActivity.Queue) -> Void) {
        for index in activity.queues.indices where TopologyNames.isJobQueue(activity.queues[index].name) {
            change(&activity.queues[index])
        }
    }
}
