import APNSSimulator
import BrokerClient
import EventLoop
import Foundation
import Glibc
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Rig
import TestSupport
import Topology

// What operators lose and move, and jobs of an unusual kind.
extension FaultCatalogue {
    /// Faults of this kind.
    static let operation = [keepingTier, growingHeaders, cluster, rollingRestart, slowMulticast, muteReplies, moves]

    private static let keepingTier = Fault(
        153, name: "a tier without its TTL",
        expects: "Its copies wait, metrics and check say so; with the topology applied all come back",
        setup: {
            $0.besideNeighbour()
            $0.broker = PrivateBrokerOptions(management: true)
            $0.mostTwice = 0
        }
    ) { ring in
        let tier = RetryTier(milliseconds: 2_000)
        try await ring.control("clear_policy", tier.queue)
        try await ring.publish(ring.retried(200, of: ring.setup.apps[0]))
        try await ring.untilMetric("martlet_retry_copies_total", #"tier="2s""#) { $0 == 200 }
        // Three times as long as they should wait.
        try await ring.endure(.seconds(6))
        let kept = try await ring.local.queueCounts()[tier.queue]?.total ?? 0
        ring.expect(kept == 200, "the tier keeps \(kept) of 200: the run says nothing")
        let returns = try await ring.metric("martlet_retry_returns_total", #"tier="2s""#)
        ring.expect(returns == 0, "\(Int(returns)) copies have come back by the metric")
        try await ring.judgeNeighbour()
        let mended = try await ring.apply(LocalRun.topology(ring.setup.routes))
        ring.expect(
            mended.map(\.object) == ["policy \(tier.queue)"] && mended[0].detail.contains("keeps its copies"),
            "applying mended \(mended)")
        try await ring.awaitEmptyTiers()
        try await ring.untilMetric("martlet_retry_returns_total", #"tier="2s""#) { $0 >= 200 }
        // And those that come from now on, too.
        try await ring.publish(ring.retried(20, of: ring.setup.apps[0]))
        try await ring.untilMetric("martlet_retry_returns_total", #"tier="2s""#) { $0 >= 220 }
    }

    private static let growingHeaders = Fault(
        154, name: "headers that outgrow 32,768 bytes on the second attempt",
        expects: "The additions of worker and broker do not count against the producer",
        setup: { $0.besideNeighbour() }
    ) { ring in
        let jobs = RunJob.several(50, tokenPrefix: "fa111503")
        // Names, kinds and lengths of both headers, and the device token.
        let filler = FieldTableReader.maximumSize - (1 + 17 + 1 + 4 + 64) - (1 + 6 + 1 + 4)
        try await ring.publish(
            jobs.map { job in
                FaultMessage().with { message in
                    message.token = job.token
                    message.headers = [
                        .init(name: Array("filler".utf8), value: .text([UInt8](repeating: 0x78, count: filler)))
                    ]
                }
            })
        try await ring.until("all are accepted") {
            jobs.allSatisfy { ring.simulator.ledger.records(token: $0.token).count == 2 }
        }
        let refused = ring.answered("ServiceUnavailable")
        ring.expect(refused == jobs.count, "\(refused) first attempts were refused instead of \(jobs.count)")
    }

    private static let cluster = Fault(
        155, name: "queues imported into a cluster, one of whose nodes dies",
        expects: "Each node leads its share; queues find other leaders and nothing is lost",
        setup: {
            $0.companions = 2
            $0.workers = 0
            $0.jobs = 0
            $0.mostTwice = 0
            $0.patience = .seconds(180)
        }
    ) { ring in
        let definitions = try await ring.keepDefinitions()
        try await ring.evaluate(
            "[rabbit_amqqueue:delete(Q, false, false, <<\"bench\">>) || Q <- rabbit_amqqueue:list()]")
        try await ring.restore(definitions)
        let nodes = try await ring.leadingNodes()
        let counts = Dictionary(grouping: nodes) { $0 }.mapValues(\.count)
        ring.note("leaders: \(counts.values.sorted())")
        // What `martlet topology check` complains of.
        let most = counts.values.max() ?? 0
        ring.expect(
            counts.count == 3 && most * 3 <= 2 * nodes.count, "one of three nodes leads \(most) of \(nodes.count)")
        try ring.startWorker()
        try await ring.awaitReady()
        try await ring.publish(2_000, taking: 500...4_000)
        try await ring.until("half of the jobs are with APNs") { ring.pushes >= 1_000 }
        try await ring.strike { $0.companions[0].crash() }
        // The broker refuses what is published to a queue without a leader; the answer waits for the election.
        _ = try await ring.local.queueCounts()
        try await ring.publish(500)
        try await ring.endure(.seconds(5))
        try await ring.strike(noting: false) { try $0.companions[0].restart() }
        try await ring.awaitReady()
    }

    private static let rollingRestart = Fault(
        53, name: "each node of a cluster restarted as in an upgrade, then each killed",
        expects: "The worker goes on with the other nodes", isLong: true,
        setup: {
            $0.companions = 2
            $0.workers = 0
            $0.jobs = 0
            $0.patience = .seconds(240)
        }
    ) { ring in
        let nodes = [ring.broker] + ring.companions
        try ring.startWorker(["MARTLET_BROKER_URI": nodes.map(\.uri).joined(separator: ",")])
        try await ring.awaitReady()
        var published = 0
        for isPlanned in [true, false] {
            for (number, node) in nodes.enumerated() {
                try await ring.publish(600, taking: 500...4_000)
                published += 600
                let all = published
                try await ring.strike { _ in
                    if isPlanned { try node.drain() }
                    node.crash()
                }
                try await ring.until("all are pushed without node \(number + 1)") { ring.pushes >= all }
                try await ring.strike(noting: false) { _ in try node.restart() }
                try await ring.until("all queues have all their members") { try node.hasWholeQueues() }
                try await ring.awaitReady()
            }
        }
    }

    private static let slowMulticast = Fault(
        156, name: "a multicast job that its rate keeps for longer than the broker's patience",
        expects: "The rest of it goes on as a copy in time; each device has one push", isLong: true,
        setup: {
            $0.besideNeighbour()
            $0.jobs = 0
            $0.apps[0].rate = 2
            // 700 of them take 350 s.
            $0.preparation = [
                "application:set_env(rabbit, consumer_timeout, 330000).",
                "application:set_env(rabbit, channel_tick_interval, 1000).",
            ]
            $0.mostTwice = 0
            $0.patience = .seconds(480)
        }
    ) { ring in
        var campaign = RunJob(isRaw: false)
        campaign.tokenPrefixes = Array(repeating: "1", count: 700)
        let began = ContinuousClock.now
        try await ring.publish([campaign] + RunJob.several(2))
        try await ring.until("all are pushed") { ring.pushes >= 702 }
        ring.note("\(Int(began.duration(to: .now) / .seconds(1))) s")
        ring.expect(
            began.duration(to: .now) > .seconds(330), "it took no longer than the patience: the run says nothing")
        let copies = try await ring.metric("martlet_retry_copies_total")
        ring.expect(copies == 1, "\(Int(copies)) copies instead of one")
        ring.expect(
            try !ring.brokerLog.contains("delivery acknowledgement on channel"), "the broker has lost its patience")
    }

    private static let muteReplies = Fault(
        157, name: "a reply queue that confirms nothing",
        expects: "Results wait for a reply no longer than half a minute, and say that it may be lost",
        setup: {
            $0.besideNeighbour()
            $0.leftovers.insert(FaultRing.replyQueue)
        }
    ) { ring in
        try await ring.muteReplyQueue()
        try await ring.copyResults()
        let jobs = RunJob.several(200)
        try await ring.publish(
            jobs.map { job in
                FaultMessage().with { message in
                    message.token = job.token
                    message.replyTo = FaultRing.replyQueue
                }
            })
        try await ring.until("all are pushed") {
            jobs.allSatisfy { !ring.simulator.ledger.records(token: $0.token).isEmpty }
        }
        try await ring.untilMetric("martlet_replies_lost_total") { $0 == 200 }
        try await ring.judgeNeighbour()
        ring.expect(
            try ring.worker.logLines(with: "no connection to the broker") == 0, "a connection was given up for it")
        let details = try await ring.takeCopiedDetails()
        let telling = details.count { $0.contains("reply may be lost") }
        ring.expect(telling == 200, "\(telling) of 200 results say that their reply may be lost: \(details.prefix(1))")
        try await ring.evaluate("\(FaultRing.replyLeader), ok = sys:resume(Leader)")
        try await ring.awaitReady()
    }

    private static let moves = Fault(
        158, name: "a topic moves and a high lane goes, under load",
        expects: "Each job reaches one route: none is pushed twice, none is stranded",
        setup: {
            $0.besideNeighbour()
            $0.apps[0].highLane = true
            $0.apps.append(LocalRun.App(route: "news", topic: "com.example.news"))
            $0.broker = PrivateBrokerOptions(management: true)
            $0.mostTwice = 0
        }
    ) { ring in
        let (shop, news) = (ring.setup.apps[0], ring.setup.apps[1])
        let routes = [
            TopologyRoute(name: shop.route, environment: .development, topics: [shop.topic, news.topic]),
            TopologyRoute(name: news.route, environment: .development, topics: ["com.example.rest"]),
        ]
        try await ring.underLoad(of: 100) {
            try await ring.publishHigh(200)
            let mended = try await ring.apply(
                BrokerTopology(
                    routes: routes + [
                        TopologyRoute(
                            name: FaultNeighbour.app.route, environment: .production, topics: [FaultNeighbour.app.topic]
                        )
                    ], tiers: LocalRun.tiers, virtualHost: "/"))
            ring.note("\(mended.count) differences mended")
            try await ring.publishHigh(200)
            try await ring.replaceWorker(by: routes, highLane: true)
            try await ring.until("the high lane is empty") {
                try ring.broker.queueCounts()[TopologyNames.highJobQueue(route: shop.route)]?.total == 0
            }
            try await ring.replaceWorker(by: routes, highLane: false)
            try await ring.publishHigh(200)
            try await ring.endure(.seconds(3))
        }
        let counts = try await ring.local.queueCounts()
        let unrouted = counts[TopologyNames.unroutedJobsQueue]?.total ?? 0
        ring.expect(unrouted == 0, "\(unrouted) jobs reached no route")
    }
}

extension FaultRing {
    /// The reply queue of a producer, which is bound by its name.
    fileprivate static let replyQueue = "apns.q.reply.guest.mute"
    /// Finds its leader.
    fileprivate static let replyLeader = """
        {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"\(replyQueue)">>)),
        {Leader, _} = amqqueue:get_pid(Q)
        """

    /// Declares the reply queue, and lets its leader stand still.
    fileprivate func muteReplyQueue() async throws {
        try await BlockingWork.run("reply queue") { [local] in
            let client = try local.connect("producer")
            defer { client.close() }
            let queue = try client.declareQueue(
                Self.replyQueue, exclusive: false,
                arguments: FieldTable(entries: [
                    .init(name: Array("x-queue-type".utf8), value: .text(Array("quorum".utf8)))
                ]))
            try client.bind(queue: queue, exchange: TopologyNames.replies, routingKey: queue)
        }
        try await evaluate("\(Self.replyLeader), ok = sys:suspend(Leader)")
    }

    /// A queue that gets a copy of the first app's results.
    private static let copies = "apns.q.tap.guest.copies"

    /// Copies the first app's results from now on.
    fileprivate func copyResults() async throws {
        try await BlockingWork.run("copies") { [local, setup] in
            let client = try local.connect("copies")
            defer { client.close() }
            let queue = try client.declareQueue(Self.copies, exclusive: false)
            try client.bind(
                queue: queue, exchange: TopologyNames.results, routingKey: "*.*.\(setup.apps[0].topic)")
        }
    }

    /// Takes the results that were copied, and ends that.
    ///
    /// - Returns: The details of those that have one.
    fileprivate func takeCopiedDetails() async throws -> [String] {
        struct Report: Decodable { var detail: String? }
        return try await BlockingWork.run("copies") { [local] in
            let client = try local.connect("copies")
            defer { client.close() }
            var details: [String] = []
            while let delivery = try client.get(queue: Self.copies) {
                let body = Data(delivery.bytes[delivery.body])
                try client.acknowledge(delivery)
                if let detail = try JSONDecoder().decode(Report.self, from: body).detail { details.append(detail) }
            }
            try client.delete(queue: Self.copies)
            return details
        }
    }

    /// Applies a topology through the management API.
    ///
    /// - Returns: The differences that it mended.
    fileprivate func apply(_ topology: BrokerTopology) async throws -> [TopologyDrift] {
        try await ManagementClient(address: SecretText(broker.managementURI)).apply(topology).mended
    }

    /// The nodes that lead quorum queues, one entry for each queue.
    fileprivate func leadingNodes() async throws -> [Substring] {
        try await evaluate(
            #"[io:format("~s~n", [Node]) || Q <- rabbit_amqqueue:list(), {_, Node} <- [amqqueue:get_pid(Q)]], ok"#)
    }

    /// Publishes urgent jobs, spread over the apps.
    fileprivate func publishHigh(_ count: Int) async throws {
        var jobs = setup.load(count, taking: 0...200)
        for index in jobs.indices { jobs[index].jobClass = .high }
        try await publish(jobs)
    }

    /// Starts a worker with other routes and ends the one before it.
    fileprivate func replaceWorker(by routes: [TopologyRoute], highLane: Bool) async throws {
        let app = FaultNeighbour.app
        let texts =
            routes.enumerated().map { index, route in
                let topics = route.topics.map { "\"\($0)\"" }.joined(separator: ",")
                return #"{"name":"\#(route.name)","environment":"development","topics":[\#(topics)],"#
                    + #""credential":"local","high_lane":\#(index == 0 && highLane)}"#
            } + [#"{"name":"\#(app.route)","environment":"production","topics":["\#(app.topic)"],"credential":"own"}"#]
        let old = try worker
        let new = try startWorker(["MARTLET_ROUTES": "[\(texts.joined(separator: ","))]"])
        try await until("the new worker is ready") { new.isReady }
        old.process.signal(SIGTERM)
        try await retire(old, endingWith: .exited(0))
    }
}
