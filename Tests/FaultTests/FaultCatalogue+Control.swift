import APNSSimulator
import EventLoop
import Glibc
import LocalStack
import PushWorker
import Rig
import Text
import Topology

// Operators ask all workers for something while much goes wrong.
extension FaultCatalogue {
    /// Faults of this kind.
    static let control = [pausedKills, garbage, contradictions, clockAndPauses, fleetRate, expiredInQueue]

    private static let news = LocalRun.App(route: "news", topic: "com.example.news")

    private static let pausedKills = Fault(
        162, name: "workers killed while a route is paused",
        expects: "None pushes anything of it; once it goes on, each job is pushed once",
        setup: {
            $0.neighbour = true
            $0.jobs = 400
            $0.milliseconds = 10...100
            $0.workers = 2
            $0.apps.append(news)
            $0.mix()
        }
    ) { ring in
        let shop = ring.setup.apps[0]
        var random = SplitMix64(seed: FaultSelection.seed)
        try await ring.underLoad(of: 100) {
            try await ring.pause(shop)
            let before = (ring.pushes(shop.topic), ring.pushes(news.topic))
            ring.neighbour?.judgeFromNow()
            for _ in 0..<8 {
                try await ring.endure(.milliseconds(Int.random(in: 100...1_500, using: &random)))
                try await ring.replaceWorker(using: &random)
            }
            try await ring.awaitPause(of: shop)
            try await ring.judgeNeighbour()
            ring.expectPause(since: before, of: shop, beside: news)
            let waiting = try ring.broker.queueCounts()[TopologyNames.jobQueue(route: shop.route)]?.ready ?? 0
            ring.note("\(waiting) waiting")
            try await ring.operate("route", "resume", shop.route)
        }
        try await ring.awaitReady()
        try await ring.untilDone()
        let accepted = ring.simulator.ledger.records().filter { $0.topic == shop.topic && $0.status == 200 }
        let twice = accepted.count - Set(accepted.map(\.token)).count
        ring.expect(twice == 0, "\(twice) pushes of the paused route were made twice")
    }

    private static let garbage = Fault(
        163, name: "the stream of commands full of garbage, forbidden, deleted",
        expects: "No worker stops; what they know stands, and they say so",
        setup: {
            $0.besideNeighbour()
            $0.workers = 2
            $0.apps.append(news)
            $0.mostTwice = 0
        }
    ) { ring in
        let shop = ring.setup.apps[0]
        let definitions = try await ring.keepDefinitions()
        try await ring.underLoad(of: 100) {
            try await ring.pause(shop)
            let before = (ring.pushes(shop.topic), ring.pushes(news.topic))
            let garbage = try await ring.spoilCommands(aboutPauseOf: shop)
            // Publishing that is work for this machine alone; reading it is not.
            ring.neighbour?.judgeFromNow()
            try await ring.until("all workers have read the garbage") {
                try ring.workers.allSatisfy { try $0.metric("martlet_control_ignored_total") == Double(garbage) }
            }
            ring.note("\(garbage) messages that are not commands")
            // One that begins now has to read all of it.
            try ring.startWorker()
            try await ring.awaitPause(of: shop)

            try await ring.control("set_permissions", "guest", ".*", ".*", #"^(?!apns\.q\.control$).*$"#)
            try await ring.closeCommandConnections()
            try await ring.awaitBlindness()
            try await ring.endure(.seconds(3))
            try await ring.control("set_permissions", "guest", ".*", ".*", ".*")
            try await ring.awaitSight()
            try await ring.awaitPause(of: shop)

            try await ring.control("delete_queue", TopologyNames.controlQueue)
            try await ring.awaitBlindness()
            try await ring.endure(.seconds(3))
            try await ring.awaitPause(of: shop)
            try await ring.judgeNeighbour()
            ring.expectPause(since: before, of: shop, beside: news)
            for worker in ring.workers {
                let told = worker.logLines(with: "what operators ask for cannot be read")
                ring.expect(told == 2, "\(worker.name) told of \(told) of 2 troubles")
            }
        }
        // A new stream has no pause in it.
        try await ring.restore(definitions)
        try await ring.awaitSight()
        try await ring.awaitReady()
    }

    private static let contradictions = Fault(
        164, name: "two operators contradict each other",
        expects: "All workers end with the later command about each thing",
        setup: {
            $0.besideNeighbour()
            $0.workers = 3
            $0.apps.append(news)
            $0.outcomes.insert("cancelled")
            $0.mostTwice = 0
        }
    ) { ring in
        let (shop, rates, turns) = (ring.setup.apps[0], ["anna": 15, "bert": 60], 12)
        // After the first command of an empty stream a worker reads it again, and tells then what is in force.
        try await ring.operate("route", "rate", shop.route, "15/s")
        try await ring.until("all workers know the first command") {
            ring.workers.allSatisfy { $0.logLines(with: "an operator asked all workers for something") == 1 }
        }
        ring.neighbour?.judgeFromNow()
        let quarrel = Task {
            try await withThrowingTaskGroup { group in
                for (author, words) in [("anna", ("pause", "cancel")), ("bert", ("resume", "resume"))] {
                    group.addTask {
                        try await BlockingWork.run("operator") {
                            try ring.operate(
                                turns, author: author,
                                [
                                    "route \(words.0) \(shop.route)",
                                    "route rate \(shop.route) \(rates[author] ?? 1)/s",
                                    "campaign \(words.1) campaign-7/",
                                ])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await ring.underLoad(of: 20) {
            for _ in 0..<10 {
                try await ring.publish(ring.campaign(20, "campaign-7/", of: news))
                try await ring.endure(.milliseconds(500))
            }
            try await quarrel.value
        }
        let commands = Array(try await ring.commands().dropFirst())
        ring.expect(commands.count == 2 * 3 * turns, "\(commands.count) of \(2 * 3 * turns) commands are in the stream")
        let kinds: [[ControlCommand.Action]] = [[.pause, .resume], [.rate], [.cancel, .resume]]
        let last = kinds.enumerated().compactMap { number, actions in
            commands.last { actions.contains($0.action) && ($0.target == .route(shop.route)) == (number < 2) }
        }
        guard last.count == kinds.count else { throw FaultFailure("the stream lacks commands of one kind") }
        let words = last.map { "\($0.action.rawValue) of \($0.author)" }
        let changes = zip(commands, commands.dropFirst()).count { $0.author != $1.author }
        ring.note("the last of \(commands.count): \(words.joined(separator: ", ")); \(changes) changes of speaker")
        ring.expect(changes > turns, "the operators spoke in turns \(changes) times only: the run says nothing")

        try await ring.until("all workers have read all commands") {
            ring.workers.allSatisfy { FaultCommandLine.count(of: $0) == commands.count }
        }
        for worker in ring.workers {
            let told = FaultCommandLine.all(of: worker)
            ring.expect(
                told == commands.map(FaultCommandLine.init), "\(worker.name) tells of other commands than the stream")
        }
        // What they do, too.
        try await ring.awaitRoute(shop.route, being: last[0].action == .pause ? "paused" : "ready")
        let late = ring.campaign(50, "campaign-7/late/", of: news)
        try await ring.publish(late)
        try await ring.until("the campaign's jobs are settled") {
            try ring.broker.queueCounts()[TopologyNames.jobQueue(route: news.route)]?.total == 0
        }
        let tokens = Set(late.map(\.token))
        let pushed = ring.simulator.ledger.records().count { tokens.contains($0.token) }
        ring.expect(pushed == (last[2].action == .cancel ? 0 : 50), "\(pushed) of 50 pushed after \(words[2])")
        try await ring.judgeNeighbour()

        // The rate shows in what is pushed: they differ by a factor of four.
        try await ring.operate("route", "resume", shop.route)
        try await ring.awaitRoute(shop.route)
        let rate = Int(last[1].perSecond ?? 0)
        try await ring.publish((0..<2_000).map { RunJob(topic: shop.topic, isRaw: $0.isMultiple(of: 2)) })
        let start = WallClock.milliseconds()
        try await ring.endure(.seconds(12))
        let share = ring.largestShare(of: rate, shop, in: start...WallClock.milliseconds())
        ring.note("\((share * 100).rounded() / 100) times \(rate) a second")
        // A slow machine pushes less than the rate. More than the lower one tells the higher one from it.
        let least = rate == 60 ? 0.3 : 0
        ring.expect(share > least && share <= 1.2, "\(share) times the later rate of \(rate) a second was pushed")
        try await ring.operate("route", "rate", shop.route, "off")
        try await ring.operate("campaign", "resume", "campaign-7/")
        try await ring.awaitCommands(0)
    }

    private static let clockAndPauses = Fault(
        165, name: "clock an hour ahead, an hour behind, while commands have an end",
        expects: "They end when the worker's clock says so, and stand while it does; no job is lost",
        setup: {
            $0.jobs = 0
            $0.workers = 0
            $0.apps.append(news)
            $0.settings += "\nretry: { tiers: [2s] }"
            $0.sendsDate = true
        }
    ) { ring in
        let shop = ring.setup.apps[0]
        let clock = try ring.local.directory.write("+0\n", to: "clock")
        let worker = try startWorker(in: ring, clock: clock)
        try await ring.awaitReady()
        try await ring.publish(200)
        try await ring.until("they are pushed") { ring.pushes >= 200 }
        // Ten minutes, an hour before they are over, and then ten seconds that take an hour.
        for (skew, next, length) in [("+0", "+1h", "10m"), ("-1h", "+0", "10s")] {
            _ = try ring.local.directory.write("\(skew)\n", to: "clock")
            // The worker looks at that file once a second.
            try await ring.endure(.seconds(3))
            try await ring.operate("route", "pause", shop.route, "--for", length)
            try await ring.operate("campaign", "pause", "campaign-7/", "--for", length)
            try await ring.awaitCommands(2)
            try await ring.awaitPause(of: shop)
            let pushed = ring.pushes
            try await ring.publish(
                ring.campaign(100, "campaign-7/", of: news)
                    + (0..<300).map { RunJob(topic: shop.topic, isRaw: $0.isMultiple(of: 2)) })
            // Longer than the ten seconds.
            try await ring.expectNoPush(for: .seconds(14), "all of it is paused for \(length) by the clock of \(skew)")
            _ = try ring.local.directory.write("\(next)\n", to: "clock")
            let stepped = ContinuousClock.now
            try await ring.awaitRoute(shop.route)
            try await ring.awaitCommands(0)
            try await ring.until("all of it is pushed") { ring.pushes == pushed + 400 }
            let took = FaultBench.seconds(stepped.duration(to: .now))
            ring.note("over \(took) s after the clock went from \(skew) to \(next)")
            let over = worker.logLines(with: "what an operator asked for is over")
            ring.expect(over == (length == "10m" ? 2 : 4), "the worker told of \(over) ends")
        }
        // A rate ends in the same way.
        try await ring.operate("route", "rate", shop.route, "1/s", "--for", "10m")
        try await ring.awaitCommands(1)
        try await ring.publish((0..<300).map { RunJob(topic: shop.topic, isRaw: $0.isMultiple(of: 2)) })
        let before = ring.pushes
        try await ring.endure(.seconds(5))
        ring.expect(ring.pushes - before < 20, "\(ring.pushes - before) pushes within 5 s at one a second")
        _ = try ring.local.directory.write("+1h\n", to: "clock")
        try await ring.until("the rate is over", within: FaultBench.patience(.seconds(30))) {
            ring.pushes >= before + 290
        }
        // What a wrong clock ended stands again.
        _ = try ring.local.directory.write("+0\n", to: "clock")
        try await ring.awaitCommands(1)
        try await ring.operate("route", "rate", shop.route, "off")
        try await ring.until("nothing is left") { ring.pushes == before + 300 }

        // A resume with an end interrupts a pause, and that ends and stands again in the same way.
        try await ring.operate("route", "pause", shop.route)
        try await ring.awaitPause(of: shop)
        try await ring.publish((0..<100).map { RunJob(topic: shop.topic, isRaw: $0.isMultiple(of: 2)) })
        try await ring.operate("route", "resume", shop.route, "--for", "10m")
        try await ring.until("the interrupted pause lets jobs go on") { ring.pushes == before + 400 }
        // A report may be older than the resume.
        try await ring.awaitRoute(shop.route)
        _ = try ring.local.directory.write("+1h\n", to: "clock")
        try await ring.awaitPause(of: shop)
        try await ring.publish((0..<100).map { RunJob(topic: shop.topic, isRaw: $0.isMultiple(of: 2)) })
        try await ring.expectNoPush(for: .seconds(3), "the interruption is over by the clock of +1h")
        _ = try ring.local.directory.write("+0\n", to: "clock")
        try await ring.until("the interruption stands again") { ring.pushes == before + 500 }
        try await ring.operate("route", "resume", shop.route)
        try await ring.awaitCommands(0)
    }

    private static let fleetRate = Fault(
        166, name: "a rate for all workers, of which one dies, one is stopped and others begin",
        expects: "Together they never push more than a fifth above the rate; each soon takes its share",
        setup: {
            $0.neighbour = true
            $0.jobs = 200
            $0.milliseconds = 0...100
            $0.workers = 3
            $0.settings = "prefetch: 200"
            $0.mix()
        }
    ) { ring in
        let (shop, rate) = (ring.setup.apps[0], 60)
        try await ring.untilDone()
        try await ring.operate("route", "rate", shop.route, "\(rate)/s")
        try await ring.awaitCommands(1)
        let start = WallClock.milliseconds()
        ring.neighbour?.judgeFromNow()
        try await ring.publish(9_000)
        try await ring.expectShares(of: rate, shop)
        try await ring.noteHeld()
        try await ring.kill(ring.worker)
        try await ring.expectShares(of: rate, shop)
        let next = try ring.startWorker()
        try await ring.until("the new worker is ready") { next.isReady }
        try await ring.expectShares(of: rate, shop)
        // One that is stopped leaves its part to the others, and with it what it has not sent.
        let stopped = try ring.worker
        stopped.process.signal(SIGTERM)
        try await ring.retire(stopped, endingWith: .exited(0))
        try await ring.expectShares(of: rate, shop)
        // Two that begin together know of each other before they send.
        for worker in [try ring.startWorker(), try ring.startWorker()] {
            try await ring.until("\(worker.name) is ready") { worker.isReady }
        }
        try await ring.expectShares(of: rate, shop)
        let factor = ring.largestShare(of: rate, shop, in: start...WallClock.milliseconds())
        ring.note("at most \((factor * 100).rounded() / 100) times the rate in ten seconds")
        ring.expect(factor <= 1.2, "\(factor) times the rate within ten seconds")
        try await ring.judgeNeighbour()
        try await ring.operate("route", "rate", shop.route, "off")
    }

    private static let expiredInQueue = Fault(
        168, name: "jobs expire in the queue of a paused route, while workers are killed",
        expects: "Each has its result and the broker's letter, and no other route waits for them",
        setup: {
            $0.besideNeighbour()
            $0.workers = 2
            $0.outcomes.insert("expired")
            $0.brokerDeadLetters = 5 * 2_000
        }
    ) { ring in
        let shop = ring.setup.apps[0]
        var random = SplitMix64(seed: FaultSelection.seed)
        // RabbitMQ ends a job only at the head of its queue.
        try await ring.untilDone()
        try await ring.pause(shop)
        let pushed = ring.pushes(shop.topic)
        ring.neighbour?.judgeFromNow()
        var waiting: [Int] = []
        for _ in 0..<5 {
            var jobs = RunJob.several(2_000)
            for index in jobs.indices { jobs[index].lifetime = 500 }
            try await ring.publish(jobs)
            try await ring.until("the broker ends the first") { try ring.brokerLetters > 0 }
            try await ring.endure(.milliseconds(Int.random(in: 0...500, using: &random)))
            waiting.append(try ring.brokerLetters)
            try await ring.replaceWorker(using: &random)
        }
        ring.note("\(waiting) letters without results before the kills")
        ring.expect(waiting.contains { $0 > 0 }, "all jobs had their results before the kills: the run says nothing")
        try await ring.until("each letter of the broker is reported") { try ring.brokerLetters == 0 }
        try await ring.judgeNeighbour()
        ring.expect(ring.pushes(shop.topic) == pushed, "jobs of the paused route were pushed")
        try await ring.operate("route", "resume", shop.route)
        try await ring.awaitReady()
    }
}

extension FaultRing {
    /// Kills a worker that chance chooses, and waits until another one is ready in its place.
    fileprivate func replaceWorker(using random: inout SplitMix64) async throws {
        try await noteHeld()
        try await kill(workers.randomElement(using: &random) ?? worker)
        let next = try startWorker()
        try await until("the new worker is ready") { next.isReady }
    }

    /// How many copies of RabbitMQ's letters wait for the results of their jobs.
    fileprivate var brokerLetters: Int {
        get throws { try broker.queueCounts()[TopologyNames.brokerLettersQueue]?.total ?? 0 }
    }

    /// Expects that five seconds from now each worker takes an equal part of a rate.
    fileprivate func expectShares(of perSecond: Int, _ app: LocalRun.App) async throws {
        try await endure(.seconds(5))
        let counts = try await requestsOfTenSeconds(app)
        note("\(counts.map(\.count)) requests in ten seconds")
        let part = Double(10 * perSecond) / Double(counts.count)
        for (name, count) in counts {
            expect(
                (0.75...1.25).contains(Double(count) / part),
                "\(name) sent \(count) requests, its share is \(Int(part))")
        }
    }
}
