import EventLoop
import Foundation
import Glibc
import LocalStack
import Rig
import Testing

// Workers that lack something: an APNs that answers, descriptors, a place for their log.
extension KillTests {
    /// What APNs does while a long queue waits.
    enum DeadAPNs: CaseIterable {
        /// Nobody listens.
        case refuses
        /// It takes every request and never answers.
        case keepsSilent
    }

    /// How many jobs wait; MARTLET_BACKLOG says otherwise.
    private static let backlogSize = getenv("MARTLET_BACKLOG").flatMap { Int(String(cString: $0)) } ?? 10_000
    /// The most memory a worker may have for itself, in kilobytes; with a sanitizer it needs more, and
    /// MARTLET_FAULT_MEMORY says how many MiB.
    private static let memoryLimit = (getenv("MARTLET_FAULT_MEMORY").flatMap { Int(String(cString: $0)) } ?? 64) << 10

    @Test(
        "With APNs dead and a long queue a worker stays small, and takes no more than it may hold",
        arguments: DeadAPNs.allCases)
    func backlog(apns: DeadAPNs) async throws {
        try await KillRing.run { ring in
            let watch = try await ring.watch()
            let jobs = RunJob.several(Self.backlogSize, tokenPrefix: apns == .refuses ? "1" : "0ff00000")
            try await ring.publish(jobs, watch.audit)
            var settings: [String: String] = [:]
            if apns == .refuses {
                let port = try FreePort.several(1)[0]
                settings["MARTLET_APNS_DEVELOPMENT"] = "https://localhost:\(port)"
            }
            let worker = try ring.start("small", settings)
            var most = 0
            var held = 0
            let end = ContinuousClock.now.advanced(by: .seconds(20))
            // The queues answer one after the other, so a job that moves meanwhile may be missed. It is found later.
            var isWhole = false
            while ContinuousClock.now < end || !isWhole {
                try Task.checkCancellation()
                let queues = try await ring.local.queueCounts()
                let counts = queues.filter { $0.key.hasPrefix("apns.q.jobs.") }.map(\.value)
                held = max(held, counts.reduce(0) { $0 + $1.unacknowledged })
                most = max(most, try Self.privateMemory(of: worker))
                let inTiers = queues.filter { $0.key.hasPrefix("apns.q.retry.") }.map(\.value)
                let waiting = (counts + inTiers).reduce(0) { $0 + $1.total }
                isWhole = apns == .keepsSilent || waiting >= jobs.count
            }
            print("\(apns): at most \(most) kB of its own, \(held) jobs held of \(jobs.count)")
            #expect(most > 0 && most < Self.memoryLimit)
            // One job is enough to learn that nobody listens. Later the route looks for expired jobs, 100 at a time.
            #expect(apns == .refuses ? held <= 100 : (1...2_000).contains(held))
            worker.signal(SIGKILL)
            #expect(try await ring.ending(of: worker, within: .seconds(10)) == .signalled(SIGKILL))
            try await BlockingWork.run("audit") { watch.audit.stop() }
        }
    }

    /// Memory that belongs to a process alone, in kilobytes.
    private static func privateMemory(of worker: ChildProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(worker.processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    @Test("Without a descriptor left a worker says so and stays; with descriptors it goes on")
    func descriptors() async throws {
        try await KillRing.run { ring in
            let watch = try await ring.watch()
            let worker = try ring.local.startWorker("tight")
            try await ring.publish(RunJob.several(100), watch.audit)
            try await watch.untilComplete()
            // What is open stays open, and nothing more can be opened.
            try await ring.limitDescriptors(of: worker, to: 8)
            try await ring.closeLanes()
            try await ring.awaitLog(of: "tight", "Too many open files")
            let ending = worker.wait(timeout: .zero)
            let log = try String(contentsOfFile: ring.local.logFile(of: "tight"), encoding: .utf8)
            #expect(ending == nil, "its log ends with \(log.suffix(2_000))")
            try await ring.publish(RunJob.several(100), watch.audit)
            try await ring.limitDescriptors(of: worker, to: 1_024)
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.expectClean(watch, mostExtra: 0)
            try await ring.stop([worker])
        }
    }

    @Test(
        "A log that takes nothing, on a full disk or with nobody reading it, stops no worker", arguments: [true, false])
    func log(isDiskFull: Bool) async throws {
        try await KillRing.run { ring in
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            close(ends[0])
            defer { close(ends[1]) }
            let nowhere: ChildProcess.Stream = isDiskFull ? .file("/dev/full") : .descriptor(ends[1])
            let watch = try await ring.watch()
            let worker = try ring.start("mute", [:], log: nowhere)
            try await ring.publish(RunJob.several(1_000), watch.audit)
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.expectClean(watch, mostExtra: 0)
            try await ring.stop([worker])
        }
    }
}

extension KillRing {
    /// Starts a worker with settings in its environment.
    fileprivate func start(
        _ name: String, _ settings: [String: String], log: ChildProcess.Stream? = nil
    ) throws -> ChildProcess {
        let inherited = ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "LD_LIBRARY_PATH"].contains($0.key)
        }
        let own = ["MARTLET_INSTANCE": name, "MARTLET_ADMIN_LISTEN": "127.0.0.1:0"]
        let environment = inherited.merging(own) { _, new in new }.merging(settings) { _, new in new }
        let log = log ?? .file(local.logFile(of: name))
        return try ChildProcess.start(
            try LocalRun.executable(), ["worker", "--config", local.configurationFile], environment: environment,
            output: log, error: log)
    }

    /// Changes how many descriptors a worker may have (prlimit(1)).
    fileprivate func limitDescriptors(of worker: ChildProcess, to count: Int) async throws {
        let status = try await BlockingWork.run("prlimit") {
            try ChildProcess.run("prlimit", ["--pid", "\(worker.processID)", "--nofile=\(count):4096"]).status
        }
        #expect(status == 0)
    }

    /// Closes the connections of the worker, as an operator would.
    fileprivate func closeLanes() async throws {
        let code = """
            [rabbit_networking:close_connection(Pid, "test") || [{pid, Pid}, {client_properties, P}] <- \
            rabbit_networking:connection_info_all([pid, client_properties]), \
            case lists:keyfind(<<"connection_name">>, 1, P) of \
            {_, _, N} -> binary:match(N, <<" lane ">>) =/= nomatch; false -> false end].
            """
        _ = try await BlockingWork.run("closing") { [local] in try local.broker.evaluate(code) }
    }
}
