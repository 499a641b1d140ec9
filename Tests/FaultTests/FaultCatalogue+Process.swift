import EventLoop
import Glibc
import LocalStack
import MartletCommands
import PushModel
import Rig
import Text
import Topology

@testable import APNSSimulator
@testable import PushWorker

// Workers are killed, stopped and started.
extension FaultCatalogue {
    /// Faults of this kind.
    static let process = [crashLoop, kills, manyKills, batchKills, terminations, sleep, longSleep, nap]

    /// How many jobs a worker may hold where it dies.
    private static let prefetch = 200

    private static let crashLoop = Fault(
        34, 51, name: "jobs that crash the worker, 45 times",
        expects: "They are taken up alone, then dead-lettered unread; their neighbours are pushed",
        setup: {
            $0.jobs = 0
            $0.workers = 0
            $0.settings = "prefetch: 500"
            $0.outcomes = ["accepted", "exhausted"]
        }
    ) { ring in
        // A job is given up when it has come back twenty times.
        for crashes in [20, 20, 5] {
            let jobs = RunJob.several(500)
            let culprit = jobs[250].id
            try await ring.publish(jobs)
            for crash in 0..<crashes {
                let worker = try ring.startWorker(["MARTLET_FAILPOINT": "crash-on-job:\(culprit)"])
                // One more than the prefetch: that of the consumer that looked at what comes first. What came back
                // three times is taken up alone.
                try await ring.awaitDeath(of: worker, holding: crash < 3 ? 501 : 2)
            }
        }
        try ring.startWorker()
        try await ring.untilDone()
        let outcomes = try await ring.outcomes()
        ring.expect(outcomes == ["accepted": 1_498, "exhausted": 2], "outcomes \(outcomes)")
        let poisoned = ring.audit.look { state in
            state.outcomes.reduce(0) { $0 + ($1.key.reason == "Poison" ? $1.value : 0) }
        }
        ring.expect(poisoned == 2, "\(poisoned) of 2 jobs were given up as poison")
        let letters = ring.audit.look { $0.deadLetters }
        ring.expect(letters == [TopologyNames.deadQueue: 2], "dead letters: \(letters)")
    }

    private static let kills = Fault(
        42, name: "workers killed, at random and at every step",
        expects: "Each job is pushed; twice at most what was held",
        setup: {
            // Answers are quick: what came back three times is taken up alone, one after the other.
            $0.jobs = 12_000
            $0.milliseconds = 10...100
            $0.workers = 2
            $0.settings = "prefetch: \(prefetch)"
            $0.mix()
        }
    ) { ring in
        var random = SplitMix64(seed: FaultSelection.seed)
        for _ in 0..<20 {
            try await ring.endure(.milliseconds(Int.random(in: 50...1_000, using: &random)))
            try await ring.noteHeld()
            try await ring.kill(ring.workers.randomElement(using: &random) ?? ring.worker)
            try ring.startWorker()
        }
        for worker in ring.workers {
            try await ring.noteHeld()
            try await ring.kill(worker)
        }
        try await dieAtEveryStep(ring, times: 2, jobs: 600, &random)
        try ring.startWorker()
        try await ring.awaitReady()
    }

    private static let manyKills = Fault(
        142, name: "workers killed 100 times at every step, over 200,000 jobs",
        expects: "Each job is pushed; twice at most what was held", isLong: true,
        setup: {
            $0.jobs = 0
            $0.workers = 0
            $0.settings = "prefetch: \(prefetch)"
            $0.mix()
            $0.patience = .seconds(1_200)
        }
    ) { ring in
        var random = SplitMix64(seed: FaultSelection.seed)
        try await dieAtEveryStep(ring, times: 100, jobs: 334, &random)
        try ring.startWorker()
        try await ring.awaitReady()
    }

    private static let batchKills = Fault(
        167, name: "workers killed at every step, with several results in a message",
        expects: "Each job is pushed and has its results; twice at most what was held",
        setup: {
            $0.jobs = 0
            $0.workers = 0
            $0.milliseconds = 10...100
            $0.settings = "prefetch: \(prefetch)\nresults: { batch: 100 }"
            $0.mix()
        }
    ) { ring in
        var random = SplitMix64(seed: FaultSelection.seed)
        try await dieAtEveryStep(ring, times: 4, jobs: 600, &random)
        try ring.startWorker()
        try await ring.awaitReady()
    }

    /// Lets workers die at each step of a job's life.
    ///
    /// - Parameters:
    ///   - ring: What they are part of; no other worker runs.
    ///   - times: How often at each step.
    ///   - jobs: How many are published for each death.
    ///   - random: Chooses the moments.
    private static func dieAtEveryStep(
        _ ring: FaultRing, times: Int, jobs: Int, _ random: inout SplitMix64
    ) async throws {
        for point in FailPoint.allCases {
            try await ring.publish(times * jobs)
            for _ in 0..<times {
                // Steps that jobs reach one by one are reached more often than those of a turn of the loop.
                let isOfOneJob = [.beforeSend, .afterAnswer, .confirmedUnacknowledged].contains(point)
                let number = Int.random(in: 1...(isOfOneJob ? 300 : 10), using: &random)
                let worker = try ring.startWorker(["MARTLET_FAILPOINT": "\(point.rawValue):\(number)"])
                try await ring.awaitDeath(of: worker, holding: prefetch + 1)
            }
        }
    }

    private static let terminations = Fault(
        43, name: "SIGTERM: busy, while reconnecting, while blocked, twice",
        expects: "Ends within its grace; what it cannot finish goes back",
        setup: {
            $0.settings = "shutdown: { grace: 15s }"
            $0.milliseconds = 50...300
        }
    ) { ring in
        // Busy: there is time to finish, so nothing is done twice.
        try await terminate(ring, "busy", endings: [.exited(0)])

        try await begin(ring)
        ring.broker.crash()
        try await ring.until("the worker reconnects") { try !ring.worker.isReady }
        try await terminate(ring, "reconnecting", endings: [.exited(0), .exited(75)])
        try await BlockingWork.run("broker") { try ring.broker.restart() }

        // Slow enough for results to come when the broker takes none: with those unsaid a worker ends early.
        try ring.startWorker()
        try await occupy(ring, taking: 4_000...6_000)
        try await ring.control("set_vm_memory_high_watermark", "0.0000001")
        try await ring.untilMetric("martlet_broker_blocked") { $0 > 0 }
        try await terminate(ring, "blocked", endings: [.exited(75)])
        try await ring.control("set_vm_memory_high_watermark", "0.4")

        // Slow enough to be busy still when the second signal may count, with nothing left that comes first.
        let hasty = try ring.startWorker()
        try await ring.awaitEmptyJobQueues()
        try await occupy(ring, taking: 4_000...6_000)
        hasty.process.signal(SIGTERM)
        try await ring.awaitLog("draining", of: hasty)
        try await ring.endure(StopRequests.patience + .milliseconds(100))
        try await terminate(ring, "twice", endings: [.exited(75)])

        try ring.startWorker()
        try await ring.awaitReady()
    }

    /// Starts a worker and gives it something to do.
    private static func begin(_ ring: FaultRing) async throws {
        try ring.startWorker()
        try await occupy(ring, taking: 50...300)
    }

    /// Gives the worker something to do.
    private static func occupy(_ ring: FaultRing, taking time: ClosedRange<Int>) async throws {
        let pushes = ring.pushes
        try await ring.publish(3_000, taking: time)
        try await ring.until("the worker is busy") { ring.pushes > pushes + 200 }
        try await ring.noteHeld()
    }

    /// Sends SIGTERM to the only worker and expects it to end in time.
    private static func terminate(_ ring: FaultRing, _ how: String, endings: [ChildProcess.Ending]) async throws {
        let worker = try ring.worker
        let began = ContinuousClock.now
        worker.process.signal(SIGTERM)
        let limit = Duration.seconds(20)
        let ending = try await BlockingWork.run("ending") { worker.process.wait(timeout: limit) }
        ring.note("\(how): \(ending.map { "\($0)" } ?? "-") in \(FaultBench.seconds(began.duration(to: .now))) s")
        ring.expect(ending.map { endings.contains($0) } ?? false, "\(how): ended with \(String(describing: ending))")
        try await ring.retire(worker, endingWith: ending ?? .exited(0), within: .zero)
    }

    private static let sleep = asleep(44, "worker frozen for 60 s", .seconds(60), heartbeat: "10s")
    private static let longSleep = asleep(144, "worker frozen for ten minutes", .seconds(600), heartbeat: "15s")

    private static let nap = Fault(
        160, name: "worker stopped for longer than a request may take",
        expects: "Reads the answers that came meanwhile; pushes nothing again",
        setup: {
            $0.requestTimeout = .seconds(6)
            $0.milliseconds = 2_000...4_000
            $0.mostTwice = 0
        }
    ) { ring in
        let worker = try ring.worker
        try await ring.until("pushes are under way") { try worker.metric("martlet_apns_requests_in_flight") >= 100 }
        try await ring.strike(noting: false) { _ in worker.process.signal(SIGSTOP) }
        // Counted while it stands still: however slow the count is, this many wait for their answers.
        let held = try ring.broker.queueCounts()["apns.q.jobs.shop"]?.unacknowledged ?? 0
        ring.noteHeld(atMost: held)
        ring.expect(held >= 100, "the worker held \(held) jobs: the run says nothing")
        try await ring.endure(.seconds(10))
        worker.process.signal(SIGCONT)
        try await ring.awaitReady()
        try await ring.awaitEmptyJobQueues()
        let unanswered = try worker.metric("martlet_apns_answers_total", #"status="none""#)
        ring.expect(unanswered == 0, "\(unanswered) requests whose answers were there counted as unanswered")
    }

    /// A worker sleeps while another goes on.
    private static func asleep(_ number: Int, _ name: String, _ duration: Duration, heartbeat: String) -> Fault {
        Fault(
            number, name: name, expects: "On waking it gives up everything it held, and connects again",
            isLong: duration > .seconds(240),
            setup: {
                $0.workers = 2
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = heartbeat
            }
        ) { ring in
            let sleeper = try ring.worker
            try await ring.strike { _ in sleeper.process.signal(SIGSTOP) }
            let deadline = ContinuousClock.now.advanced(by: duration)
            try await ring.publish(1_000, prefix: "1", deadline: WallClock.milliseconds() + 3_600_000)
            try await ring.until("the other worker has done everything") {
                try ring.broker.queueCounts()["apns.q.jobs.shop"]?.total == 0
            }
            try await ring.endure(ContinuousClock.now.duration(to: deadline))
            let pushes = ring.pushes
            sleeper.process.signal(SIGCONT)
            try await ring.awaitLog("no connection to the broker", of: sleeper)
            try await ring.awaitReady()
            try await ring.until("the sleeper counts a standstill") {
                try sleeper.metric("martlet_standstills_total") >= 1
            }
            // What a turn had decided to send when it was stopped it sends: nothing can look at a clock and write at
            // once.
            let late = ring.pushes - pushes
            ring.note("\(late) pushed on waking")
            ring.expect(late <= 100, "the sleeper pushed \(late) jobs that were no longer its own")
        }
    }
}
