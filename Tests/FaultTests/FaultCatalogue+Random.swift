import Glibc
import LocalStack
import Rig
import TestSupport
import Text

/// Something that chance may let happen: it is brought about and repaired again.
private struct Mishap: Sendable {
    /// The name in the list of what happened.
    var name: String
    /// Whether no connection with the broker outlives it.
    var isBreak = false
    /// Brings it about for as long as chance wants, and repairs it.
    var run: @Sendable (FaultRing, Duration) async throws -> Void

    /// All that may happen.
    static let all = ofBroker + ofNetwork + ofAPNS + ofWorkers

    private static let ofBroker = [
        Mishap(name: "broker restarted", isBreak: true) { ring, _ in try await ring.strike { try $0.broker.restart() }
        },
        Mishap(name: "broker killed", isBreak: true) { ring, pause in
            try await ring.strike { $0.broker.crash() }
            try await ring.endure(pause)
            try await ring.strike(noting: false) { try $0.broker.restart() }
        },
        Mishap(name: "broker frozen") { ring, pause in
            try await ring.strike { $0.broker.signal(SIGSTOP) }
            try await ring.endure(pause)
            ring.broker.signal(SIGCONT)
        },
        Mishap(name: "memory alarm") { ring, pause in
            try await ring.noteHeld()
            try await ring.control("set_vm_memory_high_watermark", "0.0000001")
            try await ring.endure(pause)
            try await ring.control("set_vm_memory_high_watermark", "0.4")
        },
        Mishap(name: "connections closed", isBreak: true) { ring, _ in
            try await ring.noteHeld()
            try await ring.control("close_all_connections", "chance")
        },
    ]

    private static let ofNetwork = [
        Mishap(name: "connections reset", isBreak: true) { ring, _ in
            try await ring.strike { $0.brokerProxy?.reset() }
        },
        Mishap(name: "broker silent") { ring, pause in
            try await impair(ring, pause) { $0.stalled = [.toClient] }
        },
        Mishap(name: "network dead") { ring, pause in
            try await impair(ring, pause) { $0.stalled = [.toClient, .toServer] }
        },
        Mishap(name: "network slow") { ring, pause in
            try await impair(ring, pause) { conditions in
                conditions.delay = .milliseconds(100)
                conditions.bytesPerSecond = 200_000
            }
        },
        Mishap(name: "network refuses", isBreak: true) { ring, pause in
            try await ring.strike { ring in
                ring.brokerProxy?.set { $0.refuses = true }
                ring.brokerProxy?.reset()
            }
            try await ring.endure(pause)
            ring.brokerProxy?.heal()
        },
    ]

    private static let ofAPNS = [
        Mishap(name: "APNs resets") { ring, _ in
            try await ring.strike { $0.apnsProxy?.reset() }
        },
        Mishap(name: "APNs gone") { ring, pause in
            try await ring.strike { ring in
                ring.apnsProxy?.set { $0.refuses = true }
                ring.apnsProxy?.reset()
            }
            try await ring.endure(pause)
            ring.apnsProxy?.heal()
        },
        Mishap(name: "APNs silent") { ring, pause in
            try await ring.strike { $0.apnsProxy?.set { $0.stalled = [.toClient] } }
            try await ring.endure(pause)
            ring.apnsProxy?.heal()
        },
    ]

    private static let ofWorkers = [
        Mishap(name: "worker killed") { ring, _ in
            try await ring.noteHeld()
            try await ring.kill(ring.worker)
            try ring.startWorker()
        },
        Mishap(name: "worker replaced") { ring, _ in
            try await ring.noteHeld()
            let worker = try ring.worker
            try ring.startWorker()
            worker.process.signal(SIGTERM)
            try await ring.retire(worker, endingWith: .exited(0))
        },
        Mishap(name: "worker asleep") { ring, pause in
            let worker = try ring.worker
            try await ring.strike { _ in worker.process.signal(SIGSTOP) }
            try await ring.endure(pause)
            worker.process.signal(SIGCONT)
        },
    ]

    private static func impair(
        _ ring: FaultRing, _ pause: Duration, _ change: @escaping @Sendable (inout FaultProxy.Conditions) -> Void
    ) async throws {
        try await ring.strike { $0.brokerProxy?.set(change) }
        try await ring.endure(pause)
        ring.brokerProxy?.heal()
    }
}

// Chance chooses: what happens, when and for how long follows from the seed.
extension FaultCatalogue {
    /// Mishaps one after the other under steady load, until time is up; then everything has to become final.
    static let random = Fault(
        name: "faults chosen at random", expects: "Nothing is lost, in any order of faults", isLong: true,
        setup: {
            $0.jobs = 500
            $0.workers = 2
            $0.brokerProxy = true
            $0.apnsProxy = true
            $0.patience = .seconds(240)
            $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s"
            $0.variables["MARTLET_APNS_PING_INTERVAL"] = "5s"
            $0.mix()
        }
    ) { ring in
        let duration = FaultSelection.duration ?? .seconds(120)
        var generator = SplitMix64(seed: FaultSelection.seed)
        var counts: [String: Int] = [:]
        print("seed \(FaultSelection.seed), \(duration.components.seconds) s")
        try await ring.underLoad(of: 100) {
            let end = ContinuousClock.now.advanced(by: duration)
            while ContinuousClock.now < end {
                let mishap = Mishap.all[Int.random(in: Mishap.all.indices, using: &generator)]
                let pause = Duration.milliseconds(Int.random(in: 500...15_000, using: &generator))
                let rest = Duration.milliseconds(Int.random(in: 0...3_000, using: &generator))
                print("\(mishap.name), \(pause)")
                counts[mishap.name, default: 0] += 1
                try await mishap.run(ring, pause)
                if mishap.isBreak {
                    try await ring.awaitReconnected()
                } else {
                    try await ring.until("all workers are ready") { ring.workers.allSatisfy(\.isReady) }
                }
                try await ring.endure(rest)
            }
        }
        ring.note("seed \(FaultSelection.seed)")
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) { ring.note("\(count) × \(name)") }
    }
}
