import APNSSimulator
import EventLoop
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Text

// Clocks are wrong, and much goes wrong while jobs wait for their time.
extension FaultCatalogue {
    /// Faults of this kind.
    static let time = [clock, early]

    private static let early = Fault(
        169, name: "broker restarted and workers killed while jobs wait for their time",
        expects: "None is pushed before its time, and each is pushed",
        setup: {
            $0.jobs = 300
            $0.milliseconds = 0...100
            $0.workers = 2
        }
    ) { ring in
        var random = SplitMix64(seed: FaultSelection.seed)
        try await ring.untilDone()
        let (count, due) = (1_000, WallClock.milliseconds() + 60_000)
        let tokens = Set((0..<count).map { _ in (JobIdentifier.new() + JobIdentifier.new()).filter(\.isHexDigit) })
        var pushes: [LedgerRecord] { ring.simulator.ledger.records().filter { tokens.contains($0.token) } }
        let header = FieldTable.Entry(name: Array("\(HeaderName.notBefore)".utf8), value: .integer(due))
        try await ring.publish(
            tokens.map { token in
                FaultMessage().with {
                    $0.token = token
                    $0.headers = [header]
                }
            })
        try await ring.until("all of them wait in the tiers") {
            let counts = try ring.broker.queueCounts().filter { $0.key.hasPrefix("apns.q.retry.") }
            return counts.reduce(0) { $0 + $1.value.total } >= count
        }
        try await ring.strike { try $0.broker.restart() }
        try await ring.awaitReconnected()
        for round in 0..<3 {
            try await ring.endure(.milliseconds(Int.random(in: 0...2_000, using: &random)))
            if round == 2 { try await ring.until("the first are pushed") { !pushes.isEmpty } }
            let worker = try ring.workers.randomElement(using: &random) ?? ring.worker
            // The jobs come back together, so a worker holds none at one moment and hundreds at the next. A stopped worker
            // pushes nothing of what it gets, so this count is the most that its death can repeat.
            worker.process.signal(SIGSTOP)
            let queues = try ring.broker.queueCounts().filter { $0.key.hasPrefix("apns.q.jobs.") }
            ring.noteHeld(atMost: queues.reduce(0) { $0 + $1.value.unacknowledged })
            let waits = WallClock.milliseconds() < due
            ring.expect(round == 2 || waits, "the jobs waited no more: the run says nothing")
            try await ring.kill(worker)
            let next = try ring.startWorker()
            try await ring.until("the new worker is ready") { next.isReady }
        }
        try await ring.until("each is pushed") { Set(pushes.map(\.token)).count == count }
        let times = pushes.map(\.time)
        let early = times.count { $0 < due }
        ring.expect(early == 0, "\(early) jobs were pushed before their time")
        ring.note("pushed \((times.min() ?? due) - due) to \((times.max() ?? due) - due) ms after their time")
    }

    private static let clock = Fault(
        41, name: "clock an hour ahead, an hour behind, wrong from the start",
        expects: "Says so; expires nothing wrongly, refused by nobody",
        setup: {
            $0.jobs = 0
            $0.workers = 0
            $0.sendsDate = true
        }
    ) { ring in
        let clock = try ring.local.directory.write("+0\n", to: "clock")
        let worker = try startWorker(in: ring, clock: clock)
        try await ring.publish(500)
        try await ring.until("they are pushed") { ring.pushes >= 500 }
        for (step, skew) in ["+1h", "-1h", "+0"].enumerated() {
            _ = try ring.local.directory.write("\(skew)\n", to: "clock")
            try await ring.endure(.seconds(3))
            try await ring.publish(500, prefix: "1", deadline: WallClock.milliseconds() + 1_800_000)
            try await ring.until("they are pushed with \(skew)") { ring.answered("") >= 500 * (step + 2) }
        }
        let steps = worker.logLines(with: "this machine's clock was set")
        let wanted = 3
        ring.note("\(steps) of \(wanted) steps told")
        ring.expect(steps == wanted, "\(steps) of \(wanted) steps of the clock were told")
        worker.process.signal(SIGTERM)
        try await ring.retire(worker, endingWith: .exited(0))

        // Nothing but the answers of APNs tells of a clock that was wrong from the start.
        let fast = try startWorker(in: ring, clock: try ring.local.directory.write("+30m\n", to: "fast-clock"))
        try await ring.publish(500, prefix: "1", deadline: WallClock.milliseconds() + 7_200_000)
        try await ring.awaitLog("this machine's clock is wrong", of: fast)
        let seen = Int(try await ring.metric("martlet_apns_clock_skew_seconds"))
        ring.note("30 minutes ahead from the start: \(seen) s measured")
        ring.expect((1_790...1_810).contains(seen), "a clock 30 minutes ahead was taken for \(seen) s")
    }

    /// Starts a worker whose calendar is off by what a file says; the file may change while it runs.
    static func startWorker(in ring: FaultRing, clock file: String) throws -> FaultWorker {
        // In the first process the library changes the environment, after which Swift does not find the arguments; a
        // shell before it takes that upon itself.
        try ring.startWorker(
            [
                "LD_PRELOAD": try preloadedLibrary(), "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            ], wrapper: ["/bin/sh", "-c", "exec \"$@\"", "sh"])
    }

    /// The library that lies about the time, of the Debian package faketime.
    private static func preloadedLibrary() throws -> String {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("/usr/lib/*/faketime/libfaketimeMT.so.1", 0, nil, &found) == 0, let path = found.gl_pathv[0] else {
            throw FaultFailure("libfaketimeMT.so.1 is missing: install the Debian package faketime")
        }
        return String(cString: path)
    }
}
