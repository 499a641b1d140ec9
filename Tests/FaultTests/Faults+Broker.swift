import Glibc
import LocalStack

// The broker leaves, freezes, is full, or throws everybody out.
extension FaultCatalogue {
    /// Faults of the broker.
    static let broker = [
        Fault(
            1, name: "broker restarted", expects: "Reconnects, drops what was not sent, loses nothing", isQuick: true
        ) { ring in
            try await ring.strike { try $0.broker.restart() }
            try await ring.awaitReady()
        },
        Fault(
            2, name: "broker killed", expects: "Reconnects; what was confirmed is still there", isQuick: true
        ) { ring in
            try await ring.strike {
                $0.broker.crash()
                try $0.broker.restart()
            }
            try await ring.awaitReady()
        },
        Fault(
            3, name: "broker frozen", expects: "Noticed after two heartbeats; works again once it thaws",
            setup: { $0.variables["MARTLET_BROKER_HEARTBEAT"] = "5s" }
        ) { ring in
            try await ring.strike { $0.broker.signal(SIGSTOP) }
            try await ring.until("the worker notices") { try !ring.worker.isReady }
            ring.broker.signal(SIGCONT)
            try await ring.awaitReady()
        },
        Fault(
            7, name: "connections closed by an operator", expects: "Reconnects with a pause", isQuick: true
        ) { ring in
            try await ring.noteHeld()
            try await ring.control("close_all_connections", "maintenance")
            try await ring.awaitReady()
        },
        Fault(
            11, name: "memory alarm", expects: "Pushes little more while blocked; goes on where it was afterwards",
            isQuick: true
        ) { ring in
            try await ring.noteHeld()
            try await ring.control("set_vm_memory_high_watermark", "0.0000001")
            try await ring.endure(.seconds(4))
            try await ring.control("set_vm_memory_high_watermark", "0.4")
            try await ring.awaitReady()
        },
    ]
}
