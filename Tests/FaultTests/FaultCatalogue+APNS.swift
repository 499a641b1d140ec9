import APNSSimulator
import EventLoop
import LocalStack
import PushModel
import Rig
import TestSupport
import Topology

/// Two apps, each with a route of its own.
private let twoApps = [
    LocalRun.App(route: "shop", topic: "com.example.shop"), LocalRun.App(route: "news", topic: "com.example.news"),
]

// APNs is slow, refuses, leaves or lies.
extension FaultCatalogue {
    /// Faults of this kind.
    static let apns = [
        slowAPNs, departures, refusals, unreachableAPNs, outage, throttledRoute, handBacks, revolvingDoor,
    ]

    private static let slowAPNs = Fault(
        36, name: "APNs slow, silent, frozen", expects: "Requests have a deadline; other routes go on meanwhile",
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.apps = twoApps
            $0.requestTimeout = .seconds(15)
        }
    ) { ring in
        let (shop, news) = (twoApps[0].topic, twoApps[1].topic)
        ring.use(.topic(shop, Verdict(.accept, delay: 5_000)))
        try await ring.publish(600, prefix: "1")
        try await ring.until("slow answers are waited for") { ring.accepted(shop) == 300 && ring.accepted(news) == 300 }
        ring.expect(try await ring.metric("martlet_retries_total") == 0, "a slow answer was not waited for")

        for (round, verdict) in [Verdict(.silent), Verdict(.freeze(milliseconds: nil))].enumerated() {
            ring.use(.topic(shop, verdict))
            let before = try await ring.metric("martlet_retries_total", #"route="shop""#)
            try await ring.publish(600, prefix: "1")
            let began = ContinuousClock.now
            try await ring.until("the other route goes on") { ring.accepted(news) == 300 * (round + 2) }
            ring.note("other route done in \(FaultBench.seconds(began.duration(to: .now))) s")
            // Whoever waits for the silent route waits for the end of its requests.
            let retries = try await ring.metric("martlet_retries_total", #"route="shop""#)
            ring.expect(retries == before, "the other route was done only when silent requests had ended")
            ring.expect(ring.accepted(shop) == 300 * (round + 1), "nobody was silent")
            try await ring.untilMetric("martlet_retries_total", #"route="shop""#) { $0 > before }
            ring.use()
            try await ring.until("the silent route goes on") { ring.accepted(shop) == 300 * (round + 2) }
        }
        ring.expect(try await ring.metric("martlet_retries_total", #"route="news""#) == 0, "the other route retried")
        ring.expect(try !ring.worker.log.contains("no connection to the broker"), "the broker was lost meanwhile")
    }

    private static let departures = Fault(
        37, name: "GOAWAY, RST_STREAM, REFUSED_STREAM, lost PING",
        expects: "Exactly what was not processed is sent again at once, on other connections", isQuick: true,
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.variables["MARTLET_APNS_PING_INTERVAL"] = "2s"
            // Nothing but a PING without an answer ends a frozen connection before the run's patience does.
            $0.requestTimeout = .seconds(600)
        }
    ) { ring in
        // What was taken before is answered yet.
        var patient = Verdict.GoAway(reach: .before)
        patient.staysOpen = true
        var patientError = Verdict.GoAway(code: 2, reason: nil, reach: .before)
        patientError.staysOpen = true
        var fewer = Verdict(.accept)
        fewer.streams = 1
        let kinds: [(prefix: String, label: String, verdict: Verdict)] = [
            ("e1", "", Verdict(.goAway(Verdict.GoAway(reach: .accepted)))), ("e2", "", fewer),
            ("e3", "goaway:before", Verdict(.goAway(patient))),
            ("e4", "goaway:before", Verdict(.goAway(patientError))),
            ("e5", "reset:REFUSED_STREAM", Verdict(.reset(7))), ("e6", "reset:INTERNAL_ERROR", Verdict(.reset(2))),
            ("ea", "goaway:before", Verdict(.goAway(Verdict.GoAway(reach: .before)))),
            ("e7", "goaway:unanswered", Verdict(.goAway(Verdict.GoAway(reach: .unanswered)))),
            ("e8", "close", Verdict(.close)), ("e9", "freeze", Verdict(.freeze(milliseconds: nil))),
        ]
        ring.simulator.control.use(Scenario(rules: kinds.map { .once($0.prefix, $0.verdict) }))
        for kind in kinds[..<6] {
            let twice = ring.answered("") - ring.promises
            // Many streams are open while it happens.
            try await ring.publish(150, taking: 50...300)
            try await ring.publish(4, prefix: kind.prefix)
            try await ring.publish(150, prefix: "1")
            try await ring.untilDone()
            let more = ring.answered("") - ring.promises - twice
            ring.expect(more == 0, "\(kind.prefix) \(kind.label): \(more) pushed twice")
        }
        ring.expect(try await ring.metric("martlet_apns_resends_total") > 0, "nothing was sent again at once")
        ring.note("\(Int(try await ring.metric("martlet_apns_resends_total"))) sent again at once")
        // These take the answers of what was processed with them.
        for kind in kinds[6...] {
            try await ring.publish(150, taking: 50...300)
            try await ring.publish(1, prefix: kind.prefix)
            ring.noteHeld(atMost: 151)
            try await ring.untilDone()
        }
        for kind in kinds where !kind.label.isEmpty {
            ring.expect(ring.answered(kind.label) > 0, "APNs never did \(kind.label)")
        }
    }

    private static let refusals = Fault(
        38, name: "429, 5xx, Retry-After, 403, 410, 400", expects: "Each reason has its outcome; a refused key parks",
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.outcomes = ["accepted", "dead_token", "rejected"]
            // By tier.
            $0.variables["MARTLET_METRICS_DETAIL"] = "true"
        }
    ) { ring in
        ring.use(
            .once("e1", Verdict(.refuse(.expiredProviderToken))), .once("e2", Verdict(.refuse(.shutdown))),
            .once("e3", Verdict(.refuse(Refusal(429, "TooManyRequests", retryAfter: 2)))),
            .once("e4", Verdict(.refuse(Refusal(503, "ServiceUnavailable", retryAfter: 2)))))
        let accepted = ["e1", "e2", "e3", "e4", "fa111429", "fa111500", "fa111503", "1"]
        let dead = ["dead0410", "dead1410", "bad00400"]
        let rejected = ["bad01400", "bad05400", "bad13400", "bad00413", "bad99400"]
        for prefix in accepted + dead + rejected { try await ring.publish(10, prefix: prefix) }
        try await ring.until("everything has been answered for good") { ring.answered("") >= accepted.count * 10 }
        // Without the header they would have waited in the next tier.
        let wished = try await ring.metric("martlet_retries_total", #"tier="2s""#)
        ring.expect(wished == 20, "\(Int(wished)) jobs waited for as long as APNs wished, instead of 20")
        for prefix in ["e3", "e4"] {
            let pauses = ring.pauses(prefix)
            ring.expect(
                pauses.count == 10 && pauses.allSatisfy { $0 >= 2_000 },
                "\(prefix): sent again after \(pauses) ms although APNs wished 2 s")
        }

        ring.simulator.control.setKey("MARTLET001", isRevoked: true)
        let accepts = ring.answered("")
        try await ring.publish(500, prefix: "1")
        try await ring.untilMetric("martlet_route_parked", #"route="shop""#) { $0 == 1 }
        try await ring.endure(.seconds(12))
        let refused = ring.answered("InvalidProviderToken")
        ring.expect(ring.answered("") == accepts, "a revoked key was accepted")
        // A window's worth at the beginning, and a probe now and then: nothing is tried again and again.
        ring.expect(refused < 1_000, "\(refused) pushes with a key that was refused")
        ring.note("\(refused) pushes until the route parked, and probes")
        ring.simulator.control.setKey("MARTLET001", isRevoked: false)
        try await ring.untilMetric("martlet_route_parked", #"route="shop""#) { $0 == 0 }
        try await ring.until("the route works again") { ring.answered("") >= accepts + 500 }
        let outcomes = try await ring.outcomes()
        let wanted = ["accepted": accepts + 500, "dead_token": dead.count * 10, "rejected": rejected.count * 10]
        ring.expect(outcomes == wanted, "outcomes \(outcomes) instead of \(wanted)")
        let letters = ring.audit.look { $0.deadLetters }
        let wantedLetters = [
            TopologyNames.deadQueue: rejected.count * 10, TopologyNames.deadTokensQueue: dead.count * 10,
        ]
        ring.expect(letters == wantedLetters, "dead letters \(letters) instead of \(wantedLetters)")
    }

    private static let unreachableAPNs = Fault(
        39, name: "APNs with a bad certificate, mute, on dead addresses",
        expects: "Nothing is pushed, no storm of connections; another address of the name is found",
        setup: {
            $0.neighbour = true
            $0.jobs = 1_000
            $0.apnsProxy = true
        }
    ) { ring in
        try await ring.strike { ring in
            ring.simulator.control.show(.expired)
            ring.apnsProxy?.reset()
        }
        let pushes = ring.pushes
        for kind in [ServerCertificateKind.expired, .wrongName, .selfSigned] {
            ring.simulator.control.show(kind)
            let before = try ring.vainConnections
            try await ring.until("a connection fails") { try ring.vainConnections > before }
        }
        try await ring.until("the worker says so") { try ring.worker.lacks(route: "shop") }
        ring.expect(ring.pushes == pushes, "something was pushed to a server with a bad certificate")
        ring.apnsProxy?.set { $0.stalled = [.toClient, .toServer] }
        ring.simulator.control.show(.good)
        let before = try ring.vainConnections
        try await ring.until("a mute connection fails") { try ring.vainConnections > before }
        ring.note("\(try ring.vainConnections) connections failed")
        ring.expect(try ring.vainConnections < 100, "a storm of connections")
        ring.apnsProxy?.heal()
        try await ring.awaitReady()

        // A name with three addresses: the first says nothing at all, and nobody listens at the second.
        ring.atEnd { try? ring.dropNothing() }
        try ring.drop(["ip daddr 127.0.0.2"])
        let hosts = try ring.local.directory.write(
            "127.0.0.2 localhost\n127.0.0.3 localhost\n127.0.0.1 localhost\n", to: "hosts")
        let script = "mount --bind \(hosts) /etc/hosts && exec \"$@\""
        let other = try ring.startWorker(wrapper: FaultWrapper.ownMounts(script))
        try await ring.until("a worker with dead addresses is ready") { other.isReady }
        try await ring.publish(500, prefix: "1")
        try await ring.until("it pushes") { try other.metric("martlet_notifications_total", #""accepted""#) > 0 }
    }

    private static let outage = Fault(
        40, name: "APNs down for a while",
        expects: "The backlog waits in its queue and in tiers; only jobs out of time are expired",
        setup: {
            $0.neighbour = true
            $0.apnsProxy = true
            $0.outcomes = ["accepted", "expired"]
            $0.patience = .seconds(180)
        }
    ) { ring in
        try await ring.strike { ring in
            ring.apnsProxy?.set { $0.refuses = true }
            ring.apnsProxy?.reset()
        }
        try await ring.publish(2_000, prefix: "1")
        try await ring.publish(100, prefix: "1", deadline: WallClock.milliseconds() + 20_000)
        try await ring.until("the worker hands everything back") {
            try ring.broker.queueCounts()[TopologyNames.jobQueue(route: "shop")]?.unacknowledged == 0
        }
        try await ring.endure(.seconds(40))
        let counts = try await ring.local.queueCounts()
        let dead = counts[TopologyNames.deadQueue]?.total ?? 0
        let waiting = counts.filter { $0.key.hasPrefix("apns.q.jobs.") || $0.key.hasPrefix("apns.q.retry.") }
            .reduce(0) { $0 + $1.value.total }
        ring.expect(waiting + dead >= 2_100, "\(waiting) jobs wait, and 2100 were published meanwhile")
        ring.expect(dead <= 100, "\(dead) dead letters were written during the outage, and 100 jobs had a deadline")
        let attempts = try ring.vainConnections
        ring.note("\(waiting) waited, \(attempts) connections tried")
        ring.expect(attempts < 200, "a storm of connections")
        ring.apnsProxy?.heal()
        try await ring.awaitReady()
        try await ring.untilDone()
        let outcomes = try await ring.outcomes()
        ring.expect(outcomes["expired"] == 100, "\(outcomes["expired"] ?? 0) expired instead of 100")
    }

    private static let throttledRoute = Fault(
        140, name: "everything of one route answered 429, then 503",
        expects: "The route parks and probes with one job; no dead letters, and the other route goes on",
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.apps = twoApps
            $0.outcomes = ["accepted", "expired"]
            $0.patience = .seconds(180)
        }
    ) { ring in
        let shop = twoApps[0].topic
        ring.use(.topic(shop, Verdict(.refuse(.tooManyRequests))))
        try await ring.until("the worker is ready") { try ring.worker.isReady }
        var rounds = 0
        while try await ring.metric("martlet_route_parked", #"route="shop""#) == 0, rounds < 60 {
            try await ring.publish(200, prefix: "1")
            try await ring.endure(.seconds(1))
            rounds += 1
        }
        ring.note("\(ring.pushes(shop)) pushes of \(rounds * 100) until the route parked")
        var late = RunJob.several(50)
        for index in late.indices { late[index].deadline = WallClock.milliseconds() + 10_000 }
        try await ring.publish(late)
        try await ring.expectProbesAlone("429")
        ring.use(.topic(shop, Verdict(.refuse(.serviceUnavailable))))
        try await ring.until("a probe is answered 503") { ring.answered("ServiceUnavailable") > 0 }
        try await ring.expectProbesAlone("503")

        let counts = try await ring.local.queueCounts()
        // Those with a deadline may have expired already.
        for (queue, most) in [(TopologyNames.deadQueue, late.count), (TopologyNames.deadTokensQueue, 0)] {
            ring.expect(counts[queue]?.total ?? 0 <= most, "\(counts[queue]?.total ?? 0) in \(queue)")
        }
        ring.note("\(counts[TopologyNames.jobQueue(route: "shop")]?.ready ?? 0) waited")
        ring.use()
        try await ring.untilDone()
        let outcomes = try await ring.outcomes()
        ring.expect(outcomes["expired"] == 50, "outcomes \(outcomes) instead of 50 expired")
    }
}

// What workers hand back counts as delivered once more, up to RabbitMQ 4.2 at least, and at twenty it is poison.
extension FaultCatalogue {
    fileprivate static let handBacks = Fault(
        141, name: "APNs 503 for minutes, then gone and back, before three workers and two queues",
        expects: "Whatever was handed back is pushed in the end: none looks like poison", isLong: true,
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.workers = 3
            $0.apps[0].highLane = true
            // As many attempts as probes, and more.
            $0.settings = "retry: { tiers: [2s, 15s, 1m, 5m, 30m], max_attempts: 30 }"
            $0.apnsProxy = true
            $0.patience = .seconds(180)
        }
    ) { ring in
        let queues = [TopologyNames.jobQueue(route: "shop"), TopologyNames.highJobQueue(route: "shop")]
        let workers = ring.workers
        try await ring.until("the workers are ready") { workers.allSatisfy(ring.isReady) }
        ring.use(.topic(twoApps[0].topic, Verdict(.refuse(.serviceUnavailable))))
        var rounds = 0
        while try !workers.allSatisfy({ try $0.metric("martlet_route_parked") == 1 }), rounds < 60 {
            try await ring.publish(600, prefix: "1")
            try await ring.endure(.seconds(1))
            rounds += 1
        }
        // Each probe takes a job of either queue, and sends one of the two.
        var urgent = RunJob.several(3)
        for index in urgent.indices { urgent[index].jobClass = .high }
        try await ring.publish(urgent)
        let pushes = ring.pushes
        try await ring.endure(.seconds(150))
        let probes = ring.pushes - pushes
        ring.note("\(probes) probes of three workers")
        ring.expect(probes >= 15, "only \(probes) probes: the run says nothing")
        ring.use()
        // Something to probe with for each of them: one alone would have done everything before the others' pauses end.
        let published = ContinuousClock.now
        while !workers.allSatisfy(ring.isReady), published.duration(to: .now) < .seconds(60) {
            try await ring.publish(60, taking: 100...500)
            try await ring.endure(.seconds(1))
        }
        try await ring.awaitReady()
        try await ring.untilDone()

        for _ in 0..<5 {
            ring.apnsProxy?.set { $0.refuses = true }
            ring.apnsProxy?.reset()
            // Taken by workers that are about to find out.
            try await ring.publish(1_200, taking: 0...100)
            try await ring.until("the workers notice") {
                workers.allSatisfy { (try? $0.lacks(route: "shop")) == true }
            }
            try await ring.endure(.seconds(12))
            ring.apnsProxy?.heal()
            try await ring.awaitReady()
            try await ring.untilDone()
        }
        let counts = try await ring.local.queueCounts()
        ring.expect(queues.allSatisfy { counts[$0]?.total == 0 }, "jobs are left: \(counts)")
    }
}

extension FaultCatalogue {
    fileprivate static let revolvingDoor = Fault(
        145, name: "APNs takes connections and sends each away",
        expects: "What waits is handed back once, then one job at a time is tried: no poison", isLong: true,
        setup: {
            $0.neighbour = true
            $0.jobs = 0
            $0.patience = .seconds(180)
        }
    ) { ring in
        let jobs = 1_000
        try await ring.until("the worker is ready") { try ring.worker.isReady }
        try await ring.publish(100, prefix: "2")
        try await ring.until("they are pushed") { ring.pushes == 100 }
        ring.use(.topic(twoApps[0].topic, Verdict(.goAway(Verdict.GoAway(reach: .before)))))
        try await ring.publish(jobs, prefix: "1")
        let before = try await ring.metric("martlet_apns_goaways_total")
        try await ring.until("it gives back what it has") {
            try ring.worker.metric("martlet_jobs_handed_back_total") > 0
        }
        try await ring.endure(.seconds(5))
        let given = try await ring.metric("martlet_jobs_handed_back_total")
        try await ring.endure(.seconds(120))
        let left = try await ring.metric("martlet_apns_goaways_total") - before
        let again = try await ring.metric("martlet_jobs_redelivered_total")
        let givenSince = try await ring.metric("martlet_jobs_handed_back_total") - given
        ring.note(
            "\(Int(left)) connections sent away, \(Int(given)) jobs given back, \(Int(givenSince)) later, "
                + "\(Int(again)) deliveries came again")
        ring.expect(left >= 8, "only \(Int(left)) connections: the run says nothing")
        // Each connection would have been given 32.
        ring.expect(givenSince <= 8, "what was given back went round")
        // What RabbitMQ is sending when a consumer is cancelled it takes back by itself (rabbitmq-server, issue 3729):
        // the rest of one window.
        ring.expect(again <= given + 100, "more came again than was given back")
        ring.use()
        try await ring.untilDone()
        let outcomes = try await ring.outcomes()
        ring.expect(outcomes["accepted"] == jobs + 100, "outcomes \(outcomes)")
    }
}

extension FaultRing {
    /// Publishes for two routes while everything of one is refused, and expects that one to try a push now and then.
    ///
    /// - Parameter kind: What APNs answers.
    fileprivate func expectProbesAlone(_ kind: String) async throws {
        let (shop, news) = (twoApps[0].topic, twoApps[1].topic)
        try await untilMetric("martlet_apns_requests_in_flight", #"route="shop""#) { $0 == 0 }
        let (before, others) = (pushes(shop), accepted(news))
        let began = ContinuousClock.now
        for _ in 0..<20 {
            try await publish(200, prefix: "1")
            try await endure(.seconds(1))
        }
        let probes = pushes(shop) - before
        let seconds = Int(began.duration(to: .now).components.seconds)
        note("\(probes) probes in \(seconds) s of \(kind)")
        // The pauses between them double up to half a minute.
        expect(probes <= seconds, "\(probes) pushes in \(seconds) s although APNs answers \(kind) to each")
        try await until("the other route pushes all of its own") { [self] in accepted(news) >= others + 2_000 }
        expect(accepted(shop) == 0, "the route was not refused")
    }
}
