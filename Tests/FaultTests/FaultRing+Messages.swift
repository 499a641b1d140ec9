import APNSSimulator
import BrokerClient
import EventLoop
import LocalStack
import RabbitMQ
import Rig
import Topology

extension FaultRing {
    /// Publishes messages one after the other and waits until the broker confirmed them all; each is a promise.
    func publish(_ messages: [FaultMessage]) async throws {
        // Nested tables are nested objects here, which take a large stack to build, to write and to let go.
        let refused = try await BlockingWork.run("producer", stackSize: 256 << 20) { [local, audit] in
            let client = try local.connect("producer")
            defer { client.close() }
            var message = OutgoingMessage()
            var refused = 0
            for one in messages {
                one.write(to: &message)
                guard try client.publishConfirmed(message) == .confirmed else {
                    refused += 1
                    continue
                }
                audit.record { $0.promised(job: one.id, notifications: one.notifications) }
            }
            return refused
        }
        expect(refused == 0, "the broker refused \(refused) messages")
    }

    /// Publishes bad messages among good jobs, waits until all are settled, and expects that the good ones alone were
    /// pushed and that every bad one is in the dead letters.
    ///
    /// - Parameters:
    ///   - bad: The bad messages.
    ///   - good: How many good jobs come before and after them.
    func publish(bad: [FaultMessage], among good: Int) async throws {
        try await publish(good / 2)
        try await publish(bad)
        try await publish(good - good / 2)
        let pushed = promises - bad.count
        try await until("\(pushed) jobs are pushed") { [self] in pushes >= pushed }
        try await until("every bad job is in the dead letters") { [self] in
            let counts = try broker.queueCounts()
            return counts.allSatisfy { name, counts in !name.hasPrefix("apns.q.jobs.") || counts.total == 0 }
                && counts[TopologyNames.deadQueue]?.total == bad.count
        }
        expect(pushes == pushed, "\(pushes - pushed) bad jobs were pushed")
        let foreign = simulator.ledger.records(token: FaultMessage.unusedToken).count
        expect(foreign == 0, "\(foreign) pushes for a device token that only bad jobs have")
        note("\(bad.count) bad")
    }
}
