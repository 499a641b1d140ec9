import EventLoop
import Glibc
import LocalStack
import Rig
import TestSupport

// Memory, descriptors, processors and disks run out.
extension FaultCatalogue {
    /// Faults of this kind.
    static let resources = [memory, descriptors, threads, disk, processors]

    private static let memory = Fault(
        45, name: "memory cap", expects: "Stays far below it, however long the queue; a kill is fault 42",
        setup: {
            $0.jobs = 10_000
            $0.milliseconds = 200...1_000
            // What is mapped counts, whether it is used or not: the stack of each thread too, of 2 MiB, also of those
            // that connect. So the cap is far above what is used.
            $0.wrapper = ["/usr/bin/prlimit", "--data=\(640 << 20)"]
            $0.memoryCeiling = 96
        }
    ) { ring in
        try await ring.publish(10_000, taking: 200...1_000)
        ring.note("peak \(try ring.worker.peakMemory) MiB under a full queue")
    }

    private static let descriptors = Fault(
        46, name: "no file descriptors left", expects: "Survives; connects again once there are some",
        setup: {
            $0.brokerProxy = true
            $0.apnsProxy = true
        }
    ) { ring in
        let worker = try ring.worker
        let lines = worker.log.utf8.count
        try await ring.strike { ring in
            try limit("nofile", of: worker, to: 8)
            ring.brokerProxy?.reset()
            ring.apnsProxy?.reset()
        }
        try await ring.awaitLog("Too many open files", of: worker)
        try await ring.endure(.seconds(10))
        try limit("nofile", of: worker, to: 1_024)
        try await ring.awaitReady()
        let logged = worker.log.utf8.count - lines
        ring.expect(logged < 200_000, "\(logged) bytes were logged about it")
    }

    /// Changes how much of something a running worker may have.
    ///
    /// - Parameters:
    ///   - resource: What, as `prlimit` calls it.
    ///   - worker: The worker.
    ///   - count: How much.
    ///   - user: The program and arguments that become its user, where it has one of its own.
    private static func limit(
        _ resource: String, of worker: FaultWorker, to count: Int, as user: [String] = []
    ) throws {
        let command = user + ["/usr/bin/prlimit", "--pid=\(worker.process.processID)", "--\(resource)=\(count):"]
        let outcome = try ChildProcess.run(command[0], Array(command.dropFirst()))
        guard outcome.status == 0 else { throw FaultFailure(outcome.errorText) }
    }

    private static let threads = Fault(
        146, name: "no threads left", expects: "Survives; connects again once there are some",
        setup: {
            $0.workers = 0
            $0.jobs = 0
            $0.brokerProxy = true
            $0.apnsProxy = true
        }
    ) { ring in
        // The limit is not for root. The other user reads the run's files, and finds the program wherever it was built.
        let user = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=61523", "--clear-groups"] : []
        let access = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        let script = #"chown -R 61523 \#(ring.local.directory.path) && exec "$@""#
        let worker = try ring.startWorker(wrapper: user.isEmpty ? [] : ["/bin/sh", "-c", script, "sh"] + user + access)
        try await ring.publish(3_000, taking: 500...4_000)
        try await ring.until("half of the jobs are with APNs") { ring.pushes >= 1_500 }
        let lines = worker.log.utf8.count
        try await ring.strike { ring in
            try limit("nproc", of: worker, to: 1, as: user)
            ring.brokerProxy?.reset()
            ring.apnsProxy?.reset()
        }
        try await ring.awaitLog("Resource temporarily unavailable", of: worker)
        try await ring.endure(.seconds(10))
        ring.expect(worker.saysUnready, "a worker without connections does not say that it is unready")
        try limit("nproc", of: worker, to: 1_000, as: user)
        try await ring.awaitReady()
        let logged = worker.log.utf8.count - lines
        ring.expect(logged < 200_000, "\(logged) bytes were logged about it")
    }

    private static let disk = Fault(
        47, name: "disk of log and journal full", expects: "Pushes on without them",
        setup: {
            $0.jobs = 0
            $0.workers = 0
        }
    ) { ring in
        let directory = try ring.local.directory.makeDirectory("small")
        let script = """
            mount -t tmpfs -o size=128k none \(directory) && exec "$@" >\(directory)/log 2>&1
            """
        let worker = try ring.startWorker(
            ["MARTLET_JOURNAL": "\(directory)/journal", "MARTLET_LOG_LEVEL": "debug"],
            wrapper: FaultWrapper.ownMounts(script))
        try await ring.awaitReady()
        ring.expect(try await ring.metric("martlet_journal_up") == 1, "the journal is off while there is room")
        try await ring.publish(6_000)
        try await ring.until("everything is pushed") { ring.pushes >= 6_000 }
        try await ring.untilMetric("martlet_journal_up") { $0 == 0 }
        // What is inside is seen through the worker only.
        let filler = "/proc/\(worker.process.processID)/root\(directory)/filler"
        // A journal begun again has left room, and so has the log's last page.
        for _ in 0..<20 where try await ring.metric("martlet_log_lines_dropped_total") == 0 {
            try await BlockingWork.run("filler") { try fill(filler) }
            try await ring.control("close_all_connections", "maintenance")
            try await ring.until("the worker notices") { worker.saysUnready }
            try await ring.awaitReady()
        }
        let dropped = try await ring.metric("martlet_log_lines_dropped_total")
        ring.note("\(Int(dropped)) log lines dropped")
        ring.expect(dropped > 0, "the log went on although its disk is full")
        try await ring.publish(1_000)
        try await ring.awaitReady()
    }

    /// Fills a disk to the last byte.
    private static func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FaultFailure("\(path) cannot be written") }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 512)
        for _ in 0..<1_024 where write(descriptor, block, block.count) <= 0 { return }
        throw FaultFailure("the disk of \(path) is not full")
    }

    private static let processors = Fault(
        48, name: "a twentieth of a processor", expects: "Slow, and nobody is declared dead",
        setup: {
            $0.jobs = 1_000
            $0.variables["MARTLET_BROKER_HEARTBEAT"] = "10s"
        }
    ) { ring in
        let worker = try ring.worker
        try await ring.publish(500)
        try await BlockingWork.run("starvation") {
            let deadline = ContinuousClock.now.advanced(by: .seconds(40))
            while ContinuousClock.now < deadline {
                worker.process.signal(SIGSTOP)
                poll(nil, 0, 190)
                worker.process.signal(SIGCONT)
                poll(nil, 0, 10)
            }
        }
        try await ring.awaitReady()
        ring.expect(try !ring.worker.log.contains("no connection to the broker"), "a connection was given up")
    }
}
