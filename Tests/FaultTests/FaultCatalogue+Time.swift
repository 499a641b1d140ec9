import EventLoop
import Glibc
import LocalStack
import Rig

// Clocks are wrong.
extension FaultCatalogue {
    /// Faults of this kind.
    static let time = [clock]

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
        let wanted = 3 * FaultSetup.lanes
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
