import EventLoop
import Foundation
import Glibc
import LocalStack
import Rig
import TLS
import Testing

// Workers are told to read their credentials again in the middle of their work.
extension KillTests {
    @Test("SIGHUP: what did not change is said; a key that APNs refuses costs nothing, and the one before goes on")
    func reload() async throws {
        try await KillRing.run { ring in
            let watch = try await ring.watch()
            let worker = try ring.local.startWorker("worker")
            try await ring.publish(RunJob.several(500), watch.audit)
            try await watch.until(finals: 500)
            worker.signal(SIGHUP)
            try await ring.awaitLog(of: "worker", "a credential is unchanged")

            let directory = ring.local.directory
            try directory.write(try ES256PrivateKey.generate().pem, to: "next.p8")
            try #require(
                Foundation.rename(directory.file("next.p8"), directory.file("AuthKey_MARTLET001.p8")) == 0)
            worker.signal(SIGHUP)
            try await ring.awaitLog(of: "worker", "a credential changed: the new one is proved before it is used")
            try await ring.publish(RunJob.several(500), watch.audit)
            // These jobs may all be done before the new key has a connection; then the next ones go there.
            while try !ring.hasLogged("APNs refuses the new credential: the one before stays in use", of: "worker") {
                try await ring.publish(RunJob.several(20), watch.audit)
            }
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.expectClean(watch, mostExtra: 0)

            try directory.write("nonsense", to: "next.p8")
            try #require(
                Foundation.rename(directory.file("next.p8"), directory.file("AuthKey_MARTLET001.p8")) == 0)
            worker.signal(SIGHUP)
            try await ring.awaitLog(of: "worker", "a credential cannot be read: the present one stays in use")
            #expect(worker.isRunning)
            try await ring.stop([worker])
        }
    }

    @Test(
        "SIGHUP: the log level is followed, the prefetch needs a restart and is named, and a wrong file changes nothing"
    )
    func settings() async throws {
        try await KillRing.run(settings: "prefetch: 100") { ring in
            let watch = try await ring.watch()
            let worker = try ring.local.startWorker("worker")
            try await ring.publish(RunJob.several(10), watch.audit)
            try await watch.until(finals: 10)
            let file = ring.local.configurationFile
            let text = try String(contentsOfFile: file, encoding: .utf8)
            func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }

            try write(text.replacingOccurrences(of: "prefetch: 100\n", with: "prefetch: 200\nlog: { level: error }\n"))
            worker.signal(SIGHUP)
            // The line is a warning, and the new level holds only after it.
            try await ring.awaitLog(of: "worker", "the configuration was read again")
            let log = try String(contentsOfFile: ring.local.logFile(of: "worker"), encoding: .utf8)
            let line = try #require(log.split(separator: "\n").first { $0.contains("was read again") })
            #expect(line.contains(#""followed":"log.level""#) && line.contains(#""needs_restart":"prefetch""#))

            try write(text + "nonsense: 1\n")
            worker.signal(SIGHUP)
            try await ring.awaitLog(
                of: "worker", "the configuration has errors now: the worker goes on with the one it has")
            try await ring.awaitLog(of: "worker", "nonsense")
            try await ring.publish(RunJob.several(10), watch.audit)
            try await watch.untilComplete()
            try await ring.expectClean(watch, mostExtra: 0)
            try await ring.stop([worker])
        }
    }

    @Test("An app is added without a restart: edit the file, `martlet topology apply`, SIGHUP")
    func added() async throws {
        let apps = [LocalRun.App(route: "shop", topic: "com.example.shop")]
        try await KillRing.run(apps: apps, broker: PrivateBrokerOptions(management: true)) { ring in
            let watch = try await ring.watch()
            let worker = try ring.local.startWorker("worker")
            try await ring.publish(RunJob.several(500), watch.audit)
            // The worker has read its configuration.
            try await watch.until(finals: 1)

            let file = ring.local.configurationFile
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try text.replacingOccurrences(
                of: "routes:\n",
                with:
                    "routes:\n  - { name: news, environment: development, topics: [com.example.news], credential: local }\n"
            ).write(toFile: file, atomically: true, encoding: .utf8)
            let apply = try await BlockingWork.run("apply") { [broker = ring.local.broker] in
                try ChildProcess.run(
                    try LocalRun.executable(), ["topology", "apply", "--config", file],
                    environment: ["MARTLET_BROKER_MANAGEMENT": broker.managementURI], timeout: .seconds(60))
            }
            #expect(apply.status == 0, "\(apply.errorText)")
            // The new queue keeps them until the worker knows the route.
            try await ring.publish((0..<200).map { _ in RunJob(topic: "com.example.news", isRaw: true) }, watch.audit)
            worker.signal(SIGHUP)
            try await ring.publish(RunJob.several(500), watch.audit)
            try await watch.untilComplete()
            try await ring.awaitLog(of: "worker", #""followed":"routes[news] (added)""#)
            try await ring.awaitEmptyJobQueue()
            try await ring.expectClean(watch, mostExtra: 0)
            try await ring.stop([worker])
        }
    }
}
