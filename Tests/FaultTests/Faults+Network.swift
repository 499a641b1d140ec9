import LocalStack
import TestSupport

// Whatever can happen to the connections with the broker.
extension FaultCatalogue {
    /// Faults of the network between workers and the broker.
    static let network = [
        Fault(
            6, name: "connections reset", expects: "Reconnects at once; half a message is dropped", isQuick: true,
            setup: { $0.brokerProxy = true }
        ) { ring in
            try await ring.strike { $0.brokerProxy?.reset() }
            try await ring.awaitReady()
        },
        Fault(
            9, name: "slow network", expects: "Works on, slowly; nobody is declared dead",
            setup: {
                $0.brokerProxy = true
                $0.jobs = 300
            }
        ) { ring in
            try await ring.strike {
                $0.brokerProxy?.set { conditions in
                    conditions.delay = .milliseconds(100)
                    conditions.bytesPerSecond = 64_000
                }
            }
            try await ring.publish(200)
            try await ring.endure(.seconds(5))
            ring.brokerProxy?.heal()
            try await ring.awaitReady()
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
}
