import Glibc
import LocalStack
import TestSupport

// The broker leaves, freezes, is full, or throws everybody out.
extension FaultCatalogue {
    /// Faults of the broker.
    static let broker = comings.map(\.hardlyTwice) + (alarms + refusals).map(\.onceOnly)

    /// A prefetch far below what the setup's jobs would fill.
    private static let smallPrefetch = 100

    /// The broker leaves and comes back.
    private static let comings = [
        Fault(
            1, name: "broker restarted", expects: "Reconnects, drops what was not sent, loses nothing",
            setup: { $0.patience = .seconds(180) }
        ) { ring in
            for _ in 0..<5 {
                try await ring.publish(300, taking: 500...2_000)
                try await ring.strike { try $0.broker.restart() }
                try await ring.awaitReconnected()
            }
            let median = FaultRing.median(ring.recoveries)
            ring.expect(
                median <= FaultBench.patience(.seconds(5)),
                "the median of five recoveries was \(FaultBench.seconds(median)) s")
        },
        Fault(
            2, name: "broker killed", expects: "Reconnects; what was confirmed is still there", isQuick: true
        ) { ring in
            try await ring.strike {
                $0.broker.crash()
                try $0.broker.restart()
            }
            try await ring.awaitReconnected()
            ring.expectQuickRecovery()
        },
        Fault(
            3, name: "broker frozen", expects: "Noticed after two heartbeats; works again once it thaws",
            setup: { $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s" }
        ) { ring in
            try await ring.strike { $0.broker.signal(SIGSTOP) }
            try await ring.awaitNotice(within: .seconds(15))
            ring.broker.signal(SIGCONT)
            // The other connection's heartbeats may have been spared.
            try await ring.awaitReady()
        },
        Fault(
            8, name: "maintenance", expects: "Leaves when the broker is drained, comes back when it is revived"
        ) { ring in
            try await ring.strike { try $0.broker.drain() }
            try await ring.awaitNotice(within: .seconds(20))
            try await ring.endure(.seconds(3))
            try await ring.strike { try $0.run("\(PrivateBroker.programs)/rabbitmq-upgrade", "revive") }
            try await ring.awaitReconnected()
        },
        Fault(
            14, name: "slow confirms", expects: "Waits for confirms within its window; nobody is declared dead",
            setup: {
                $0.jobs = 4_000
                $0.milliseconds = 0...200
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = "10s"
                $0.variables["MARTLET_PREFETCH"] = "\(smallPrefetch)"
            }
        ) { ring in
            let before = try ring.worker.metric("martlet_broker_disconnects_total")
            let most = try await ring.largest({ try ring.worker.metric("martlet_unconfirmed") }) {
                // Awake for a tenth of the time.
                try await ring.strike { ring in
                    for _ in 0..<20 {
                        ring.broker.signal(SIGSTOP)
                        poll(nil, 0, 450)
                        ring.broker.signal(SIGCONT)
                        poll(nil, 0, 50)
                    }
                }
            }
            ring.note("at most \(Int(most)) unconfirmed")
            // One result for each job that is not acknowledged.
            ring.expect(most > 0, "every result was confirmed at once: the run says nothing")
            ring.expect(most <= Double(smallPrefetch), "\(most) publications were unconfirmed")
            let after = try ring.worker.metric("martlet_broker_disconnects_total")
            ring.expect(before == after, "connections were given up")
            try await ring.awaitReady()
        },
        Fault(
            21, name: "queues without a majority", expects: "Waits without a push; goes on once the nodes are back",
            setup: {
                $0.companions = 2
                $0.patience = .seconds(180)
            }
        ) { ring in
            try await ring.strike { $0.companions.forEach { $0.crash() } }
            // Longer than any push takes.
            try await ring.endure(.seconds(10))
            let pushes = ring.pushes
            try await ring.endure(.seconds(10))
            ring.expect(ring.pushes == pushes, "\(ring.pushes - pushes) more pushes without a majority")
            let unconfirmed = try ring.worker.metric("martlet_unconfirmed")
            ring.note("\(Int(unconfirmed)) results unconfirmed meanwhile")
            ring.expect(unconfirmed > 0, "results were confirmed without a majority: the run says nothing")
            // Half a minute of patience with confirms.
            try await ring.awaitLog("the broker does not confirm", of: try ring.worker)
            try await ring.expectNoPush(for: .seconds(5), "queues have no majority")
            ring.expect(ring.pushes == pushes, "\(ring.pushes - pushes) more pushes without a majority")
            try await ring.strike(noting: false) { ring in
                for companion in ring.companions { try companion.restart() }
            }
            try await ring.awaitReady()
        },
        Fault(
            7, name: "connections closed by an operator", expects: "Reconnects with a pause", isQuick: true
        ) { ring in
            try await ring.noteHeld()
            let began = ContinuousClock.now
            try await ring.control("close_all_connections", "maintenance")
            try await ring.awaitReconnected(since: began)
            let told = try ring.worker.log.split(separator: "\n").count {
                $0.contains("the broker closes the connection") && $0.contains("320") && $0.contains("maintenance")
            }
            ring.expect(
                told == 2, "the log tells of \(told) connections that were closed with 320 and why")
        },
    ]

    /// The broker has no room.
    private static let alarms = [
        Fault(
            11, name: "memory alarm", expects: "Pushes little more while blocked; goes on where it was afterwards",
            setup: {
                $0.narrow()
                $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s"
            }
        ) { ring in
            try await block(ring, by: ["set_vm_memory_high_watermark", "0.0000001"])
            try await ring.awaitHandedBack()
            try await ring.control("set_vm_memory_high_watermark", "0.4")
            try await ring.awaitReady()
        },
        Fault(
            12, name: "disk alarm", expects: "Pushes little more while blocked; goes on where it was afterwards",
            isQuick: true, setup: { $0.narrow() }
        ) { ring in
            try await block(ring, by: ["set_disk_free_limit", "10000GB"])
            try await ring.control("set_disk_free_limit", "50MB")
            try await ring.awaitReady()
        },
        Fault(
            13, name: "broker's disk full", expects: "Waits for the broker; what was confirmed is still there",
            setup: { $0.patience = .seconds(180) }
        ) { ring in
            try await ring.strike { ring in
                ring.broker.crash()
                let data = try ring.moveBrokerData(toFileSystemOf: 200)
                try ring.broker.restart()
                // Without this the disk alarm would come first.
                try ring.broker.control(["set_disk_free_limit", "1000"])
                try ring.broker.evaluate(unforgiving)
                _ = try? ring.run("/bin/dd", "if=/dev/zero", "of=\(data)/filler", "bs=64k")
            }
            try await ring.until("the broker cannot write") { try ring.brokerLog.contains("enospc") }
            ring.broker.crash()
            try await ring.endure(.seconds(5))
            try await ring.strike(noting: false) { ring in
                try ring.run("/bin/rm", ring.broker.directory.file("data/filler"))
                try ring.broker.restart()
            }
            try await ring.awaitReconnected()
        },
    ]

    /// Erlang that lets RabbitMQ's write-ahead log fail for good.
    ///
    /// By itself RabbitMQ 3.10.8 restarts the log on the full disk within milliseconds. A capture of the wire shows
    /// that it then confirms publications behind the hole that it has torn, and it never delivers them. Here the
    /// supervisors of the log allow no restart, so that nothing is confirmed until the disk has room again. The sixth
    /// element of a supervisor's state is the restarts that it allows, `intensity` (OTP's supervisor.erl).
    private static let unforgiving = """
        {dictionary, D} = process_info(whereis(ra_log_wal), dictionary),
        Supervisors = lists:droplast(proplists:get_value('$ancestors', D)),
        [sys:replace_state(S, fun(T) -> setelement(6, T, 0) end) || S <- Supervisors], ok.
        """

    /// Raises an alarm, and expects that pushing ends while results cannot be published.
    private static func block(_ ring: FaultRing, by command: [String]) async throws {
        try await ring.publish(4_000, taking: ring.setup.milliseconds)
        let held = try await ring.noteHeld()
        let disconnects = try ring.worker.metric("martlet_broker_disconnects_total")
        try await ring.strike(noting: false) { try $0.broker.control(command) }
        try await ring.awaitMetric("martlet_broker_blocked", atLeast: 1)
        let atFirst = ring.pushes
        // Longer than any push takes, then longer than heartbeats allow silence.
        try await ring.endure(.seconds(6))
        let atRest = ring.pushes
        try await ring.endure(.seconds(10))
        ring.note("\(atRest - atFirst) more pushes while blocked, \(held) were held")
        ring.expect(ring.pushes == atRest, "\(ring.pushes - atRest) pushes more although results cannot be published")
        let most = FaultSetup.mostPushesUnpublished
        ring.expect(atRest - atFirst <= most, "\(atRest - atFirst) more pushes while blocked, \(most) are allowed")
        ring.expect(held > most + FaultSetup.fewStreams, "the worker held \(held) jobs: the run says nothing")
        ring.expect(ring.pushes < ring.promises, "there was nothing left to push: the run says nothing")
        let after = try ring.worker.metric("martlet_broker_disconnects_total")
        ring.expect(after == disconnects, "connections were given up")
    }

    /// The broker throws everybody out.
    private static let refusals = [
        Fault(
            23, name: "consumer timeout", expects: "Takes the jobs again; acknowledges none on the lost channel",
            setup: {
                $0.neighbour = true
                $0.apnsProxy = true
                $0.preparation = [
                    "application:set_env(rabbit, consumer_timeout, 8000).",
                    "application:set_env(rabbit, channel_tick_interval, 1000).",
                ]
            }
        ) { ring in
            try await ring.strike { $0.apnsProxy?.set { $0.stalled = [.toClient, .toServer] } }
            // However fast the worker was, some jobs wait for answers now.
            try await ring.publish(200)
            ring.noteHeld(atMost: 200)
            // RabbitMQ closes the channel, or cancels the consumer from 4.3 on.
            try await ring.until("the broker loses its patience") {
                try ring.worker.log.contains("consumer_timeout")
            }
            ring.apnsProxy?.heal()
            try await ring.awaitReady()
        },
        Fault(
            26, name: "virtual host without room, and deleted", expects: "Asks again until it may come back"
        ) { ring in
            try await ring.strike { ring in
                try ring.broker.control(["set_vhost_limits", #"{"max-connections":0}"#])
                try ring.broker.control(["close_all_connections", "no room"])
            }
            try await ring.awaitNotice(within: .seconds(20))
            ring.note(try await ring.awaitRefusals("no connection to the broker", of: ring.worker))
            try await ring.control("clear_vhost_limits")
            try await ring.awaitReconnected()
            // With everything done and read: what a virtual host holds goes with it.
            try await ring.awaitEmptyJobQueues()
            _ = try await ring.outcomes()
            try await ring.strike { ring in
                let definitions = ring.broker.directory.file("before.json")
                try ring.broker.control(["export_definitions", definitions])
                try FaultRing.removeTaps(from: definitions)
                try ring.broker.control(["delete_vhost", "/"])
                try ring.run("/bin/sleep", "5")
                try ring.broker.control(["import_definitions", definitions])
            }
            try await ring.awaitReconnected()
            try await ring.publish(500)
        },
    ]
}

extension Fault {
    /// The same where nothing may be pushed twice: the worker lives on, and remembers what it sent.
    var onceOnly: Fault {
        var copy = self
        copy.setup.mostTwice = 0
        return copy
    }

    /// The same where connections are lost: next to nothing may be pushed twice.
    ///
    /// RabbitMQ counts a return for a message that a dying channel never read, too. Where a message came back more
    /// often than the worker's lost channels explain, another worker may have had it, and it is pushed again
    /// (`DeliveryOrigin`). A memory that does not recognise redeliveries would push hundreds again.
    var hardlyTwice: Fault {
        var copy = self
        copy.setup.mostTwice = 5
        return copy
    }
}
