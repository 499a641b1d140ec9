import Glibc
import LocalStack
import TestSupport

@testable import martlet

// Memory, descriptors, processors and disks run out.
extension FaultCatalogue {
    /// Faults of this kind.
    static let resources = [memory, descriptors, disk, processors]

    private static let memory = Fault(
        45, name: "memory cap", expects: "Stays far below it, however long the queue; a kill is fault 42",
        setup: {
            $0.jobs = 10_000
            $0.milliseconds = 200...1_000
            // What is mapped counts, stacks of threads too, which may be 64 MiB each: 260 MiB of it for 60 MiB that are
            // used, and more while threads that connect are about.
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
            try limitDescriptors(of: worker, to: 8)
            ring.brokerProxy?.reset()
            ring.apnsProxy?.reset()
        }
        try await ring.awaitLog("Too many open files", of: worker)
        try await ring.endure(.seconds(10))
        try limitDescriptors(of: worker, to: 1_024)
        try await ring.awaitReady()
        let logged = worker.log.utf8.count - lines
        ring.expect(logged < 200_000, "\(logged) bytes were logged about it")
    }

    /// Changes how many descriptors a running worker may have.
    private static func limitDescriptors(of worker: FaultWorker, to count: Int) throws {
        let outcome = try ChildProcess.run(
            "/usr/bin/prlimit", ["--pid=\(worker.process.processID)", "--nofile=\(count):"])
        guard outcome.status == 0 else { throw FaultFailure(outcome.errorText) }
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
        try await BlockingWork.run("filler") { try fill(filler) }
        try await ring.control("close_all_connections", "maintenance")
        try await ring.publish(1_000)
        try await ring.awaitReady()
    }

    /// Fills a disk to the last byte.
    private static func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
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
