import EventLoop
import Glibc
import LocalStack

@testable import martlet

// Clocks are wrong.
extension FaultCatalogue {
    /// Faults of this kind.
    static let time = [clock]

    private static let clock = Fault(
        41, name: "clock an hour ahead, an hour behind", expects: "Says so; expires nothing wrongly, refused by nobody",
        setup: {
            $0.jobs = 0
            $0.workers = 0
        }
    ) { ring in
        let file = try ring.local.directory.write("+0\n", to: "clock")
        let library = try preloadedLibrary()
        // In the first process the library changes the environment, after which Swift does not find the arguments; a
        // shell before it takes that upon itself.
        let worker = try ring.startWorker(
            [
                "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            ], wrapper: ["/bin/sh", "-c", "exec \"$@\"", "sh"])
        try await ring.publish(500)
        try await ring.until("they are pushed") { ring.pushes >= 500 }
        for (step, skew) in ["+1h", "-1h", "+0"].enumerated() {
            _ = try ring.local.directory.write("\(skew)\n", to: "clock")
            try await ring.endure(.seconds(3))
            try await ring.publish(500, prefix: "1", deadline: WallClock.milliseconds() + 1_800_000)
            try await ring.until("they are pushed with \(skew)") { ring.answered("") >= 500 * (step + 2) }
            let seen = Int(try await ring.metric("martlet_apns_clock_skew_seconds"))
            ring.note("\(skew): \(seen) s seen")
        }
        ring.expect(worker.log.contains("this machine's clock is wrong"), "nothing was said about the clock")
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
