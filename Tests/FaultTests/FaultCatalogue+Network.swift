import Glibc
import LocalStack
import PushModel
import Rig
import TestSupport
import Topology

// Whatever can happen to the connections with the broker.
extension FaultCatalogue {
    /// Faults of the network between workers and the broker.
    static let network = breaks.map(\.hardlyTwice) + bottlenecks.map(\.onceOnly)

    /// Connections break, with and without a word.
    private static let breaks = [
        Fault(
            4, name: "network cut both ways", expects: "Noticed after two heartbeats, although nobody says a word",
            setup: { $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s" }
        ) { ring in
            let port = ring.broker.port
            try await cut(ring, "tcp dport \(port)", "tcp sport \(port)")
        },
        Fault(
            5, name: "network cut one way", expects: "Noticed after two heartbeats, although what is sent arrives",
            setup: { $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s" }
        ) { ring in
            try await cut(ring, "tcp sport \(ring.broker.port)")
        },
        Fault(
            6, name: "connections reset", expects: "Reconnects at once; half a message is dropped", isQuick: true,
            setup: { $0.brokerProxy = true }
        ) { ring in
            try await ring.strike { $0.brokerProxy?.reset() }
            try await ring.awaitReconnected()
            ring.expectQuickRecovery()
            try await abort(ring)
        },
        Fault(
            15, name: "confirms never arrive", expects: "Gives the connection up; publishes again on a new one",
            setup: {
                $0.brokerProxy = true
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s"
            }
        ) { ring in
            try await ring.strike { $0.brokerProxy?.set { $0.stalled = [.toClient] } }
            // With what was delivered between the first count and the blow.
            try await ring.noteHeld()
            try await ring.awaitNotice(within: .seconds(15))
            try await ring.endure(.seconds(5))
            ring.brokerProxy?.heal()
            try await ring.awaitReconnected()
            ring.expectQuickRecovery()
            try await suspendResults(ring)
        },
        Fault(
            24, name: "worker asleep for three heartbeats", expects: "Takes everything it held for lost, reconnects",
            setup: { $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s" }
        ) { ring in
            let worker = try ring.worker
            try await ring.strike { _ in
                worker.process.signal(SIGSTOP)
                poll(nil, 0, 16_000)
                worker.process.signal(SIGCONT)
            }
            try await ring.awaitReconnected()
            ring.expectQuickRecovery()
            let stood = try worker.metric("martlet_standstills_total")
            ring.expect(stood >= 1, "the worker noticed \(stood) standstills of its own")
        },
        Fault(
            29, name: "names of the broker", expects: "Waits for a name, follows its address, tries every address",
            setup: {
                $0.jobs = 1_000
                $0.workers = 0
                $0.variables["MARTLET_BROKER_ALLOW_PLAINTEXT"] = "true"
            }
        ) { ring in try await rename(ring) },
        Fault(
            55, name: "idle connections cut", expects: "Heartbeats keep them; without these it reconnects",
            setup: {
                $0.brokerProxy = true
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = "6s"
            }
        ) { ring in
            // While there is nothing to do, heartbeats are all that travels.
            try await ring.until("all is done") {
                try ring.broker.queueCounts().allSatisfy { $0.value.unacknowledged == 0 }
            }
            ring.brokerProxy?.set { $0.idleLimit = .seconds(8) }
            let connects = try ring.worker.metric("martlet_broker_connects_total")
            try await ring.endure(.seconds(20))
            let kept = try ring.worker.metric("martlet_broker_connects_total")
            ring.expect(kept == connects, "connections were cut although heartbeats went both ways")
            try await ring.strike { $0.brokerProxy?.set { $0.idleLimit = .milliseconds(500) } }
            try await ring.awaitMetric("martlet_broker_disconnects_total", atLeast: 4)
            ring.brokerProxy?.heal()
            try await ring.awaitReconnected()
            ring.expectQuickRecovery()
        },
    ]

    /// The network is slow, or hands everything over in bits.
    private static let bottlenecks = [
        Fault(
            9, name: "slow network", expects: "Works on, slowly; nobody is declared dead",
            setup: {
                $0.brokerProxy = true
                $0.jobs = 300
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s"
            }
        ) { ring in
            let disconnects = try ring.worker.metric("martlet_broker_disconnects_total")
            try await ring.strike {
                $0.brokerProxy?.set { conditions in
                    conditions.delay = .milliseconds(100)
                    // 64 kbit/s.
                    conditions.bytesPerSecond = 8_000
                }
            }
            // Each lane has connections of its own, which are slow one by one.
            try await ring.publish(400)
            // Four heartbeats.
            try await ring.endure(.seconds(20))
            let left = try await ring.local.jobCounts().total
            ring.note("\(left) jobs left after 20 s")
            ring.expect(left > 0, "there was nothing left to do: the run says nothing")
            ring.brokerProxy?.heal()
            try await ring.awaitReady()
            let after = try ring.worker.metric("martlet_broker_disconnects_total")
            ring.expect(after == disconnects, "connections were given up")
        },
        Fault(
            10, name: "tiny segments", expects: "Frames are put together byte by byte",
            setup: { $0.brokerProxy = true }
        ) { ring in
            try await ring.strike { $0.brokerProxy?.set { $0.slice = 7 } }
            try await ring.publish(200)
            try await ring.endure(.seconds(2))
            try await ring.awaitReady()
        },
    ]

    /// Drops packets until the worker has noticed, and some time beyond.
    private static func cut(_ ring: FaultRing, _ matches: String...) async throws {
        try await ring.strike { ring in try ring.drop(matches) }
        // Twice the heartbeat, and what a busy machine may add.
        try await ring.awaitNotice(within: .seconds(15))
        try await ring.endure(.seconds(5))
        try ring.dropNothing()
        try await ring.awaitReconnected()
        ring.expectQuickRecovery()
    }

    /// The kernel ends the worker's connections, in the middle of whatever they carry.
    private static func abort(_ ring: FaultRing) async throws {
        guard FaultSelection.isIsolated, let port = ring.brokerProxy?.port else {
            return ring.note("the kernel was not asked to end connections: that needs a network of its own")
        }
        try await ring.publish(1_000, taking: 500...2_000)
        let connects = try ring.worker.metric("martlet_broker_connects_total")
        try await ring.strike { ring in
            // It complains of the sockets that listen, and lists those that it ended.
            let ended = try ring.run("/usr/bin/ss", "--kill", "--no-header", "--tcp", "dport", "=", ":\(port)")
            ring.note("\(ended.split(separator: "\n").count) ended by the kernel")
        }
        try await ring.until("the worker notices") {
            try ring.worker.metric("martlet_broker_connects_total") >= connects + 2
        }
        try await ring.awaitReconnected()
        ring.expectQuickRecovery()
    }

    /// Nothing confirms results although the connection lives and heartbeats come: their queue's leader stands still.
    private static func suspendResults(_ ring: FaultRing) async throws {
        let leader = """
            {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"\(TopologyNames.resultsQueue)">>)),
            {Leader, _} = amqqueue:get_pid(Q)
            """
        let worker = try ring.worker
        let connects = try worker.metric("martlet_broker_connects_total")
        let disconnects = try worker.metric("martlet_broker_disconnects_total")
        try await ring.noteHeld()
        try await ring.evaluate("\(leader), ok = sys:suspend(Leader)")
        try await ring.publish(1_000, taking: 500...2_000)
        // Four heartbeats, and less than the patience with confirms.
        try await ring.endure(.seconds(20))
        ring.expect(
            try worker.metric("martlet_broker_disconnects_total") == disconnects,
            "a connection was given up although heartbeats come")
        ring.expect(try worker.metric("martlet_unconfirmed") > 0, "results were confirmed: the run says nothing")
        try await ring.awaitLog("the broker does not confirm", of: worker)
        try await ring.awaitMetric("martlet_broker_connects_total", atLeast: connects + 1)
        ring.expect(
            try worker.metric("martlet_broker_disconnects_total") == disconnects + 1,
            "more was given up than the connections without confirms")
        try await ring.endure(.seconds(5))
        try await ring.evaluate("\(leader), ok = sys:resume(Leader)")
        try await ring.awaitReady()
    }

    /// A name that nobody knows gets an address, another one where nobody answers, and two of which one is silent.
    private static func rename(_ ring: FaultRing) async throws {
        guard FaultSelection.isIsolated else {
            throw FaultFailure("this needs mounts of its own: run it with Tests/FaultTests/run")
        }
        let hosts = try ring.broker.directory.write("127.0.0.1 localhost\n", to: "hosts")
        @Sendable func resolve(to addresses: String...) throws {
            let lines = addresses.map { "\($0) broker.test\n" }.joined()
            try ring.broker.directory.write("127.0.0.1 localhost\n\(lines)", to: "hosts")
        }
        let worker = try ring.startWorker(
            ["MARTLET_BROKER_URI": "amqp://guest:guest@broker.test:\(ring.broker.port)/?connection_timeout=2000"],
            wrapper: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c", #"mount --bind "$0" /etc/hosts && exec "$@""#, hosts,
            ])
        try await ring.awaitLog("broker.test", of: worker)
        try await ring.endure(.seconds(2))
        try resolve(to: "127.0.0.1")
        try await ring.awaitReady()

        try await ring.strike { ring in
            try resolve(to: "127.0.0.9")
            try ring.broker.control(["close_all_connections", "moved"])
        }
        try await ring.awaitNotice(within: .seconds(20))
        try await ring.endure(.seconds(2))
        try resolve(to: "127.0.0.1")
        try await ring.awaitReconnected()

        // The one that goes first by the rules of RFC 6724, whatever their order here.
        try ring.drop(["ip6 daddr ::1 tcp dport \(ring.broker.port)"])
        try await ring.strike { ring in
            try resolve(to: "::1", "127.0.0.1")
            try ring.broker.control(["close_all_connections", "moved"])
        }
        try await ring.awaitReconnected()
        let dropped = try ring.dropped
        ring.note("\(dropped) packets dropped on the way to the first address")
        ring.expect(dropped > 0, "the first address was never tried")
        try ring.dropNothing()
    }
}
