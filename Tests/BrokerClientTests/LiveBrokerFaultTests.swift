import BrokerClient
import EventLoop
import Glibc
import LocalStack
import TestSupport
import Testing

@testable import RabbitMQ

/// These disturb the broker as a whole, so they have one of their own.
@Suite("Against a RabbitMQ in trouble", .serialized, .timeLimit(.minutes(2)))
struct LiveBrokerFaultTests {
    private static let started = Result { try PrivateBroker.start() }

    private func open(heartbeat: Int) throws -> (PrivateBroker, LiveConnection, OutgoingMessage) {
        let broker = try Self.started.get()
        let live = try LiveConnection(to: broker.uri, heartbeat: heartbeat)
        try live.openChannel(1)
        try live.session.selectConfirms(1)
        try live.wait(for: "confirms") { $0 == .confirmsSelected(1) }
        var message = OutgoingMessage()
        message.setExchange("amq.fanout")
        message.setBody([UInt8](repeating: 1, count: 1000).span)
        return (broker, live, message)
    }

    @Test("publishing to a frozen broker stops at the limit, and goes on when it thaws")
    func frozen() throws {
        let (broker, live, message) = try open(heartbeat: 30)
        broker.signal(SIGSTOP)
        defer { broker.signal(SIGCONT) }
        var published = 0
        var refusals = 0
        // The kernel moves what was sent to the other side's buffer for a while, so one refusal is not the end.
        while refusals < 50 {
            while try live.session.publish(message, channel: 1) { published += 1 }
            try live.turn()
            refusals += 1
        }
        #expect(published > 100)
        #expect(live.connection.hasPendingOutput && live.connection.interest.contains(.writable))
        broker.signal(SIGCONT)
        var confirmed: UInt64 = 0
        while confirmed < UInt64(published) {
            let event = try live.wait(for: "confirm") { if case .confirmed = $0 { true } else { false } }
            if case .confirmed(_, let tag, _, let positive) = event {
                #expect(positive)
                confirmed = max(confirmed, tag)
            }
        }
        #expect(try live.session.publish(message, channel: 1))
        live.connection.close(within: .seconds(2), delegate: live.recorder)
    }

    @Test("a frozen broker is suspect, and then lost, without a call that waits")
    func frozenForLong() throws {
        let (broker, live, message) = try open(heartbeat: 1)
        broker.signal(SIGSTOP)
        defer { broker.signal(SIGCONT) }
        var wasSuspect = false
        let error = #expect(throws: AMQPError.self) {
            while true {
                wasSuspect = wasSuspect || live.session.isSuspect
                // A bounded number per turn, as in a lane: on a busy machine filling the buffers may take seconds.
                for _ in 0..<64 where try !live.session.publish(message, channel: 1) { break }
                try live.connection.wait(until: .now().adding(.milliseconds(20)), delegate: live.recorder)
            }
        }
        #expect(wasSuspect)
        #expect(error?.code == .heartbeatTimeout || error?.code == .connectionLost, "\(error as Any)")
    }

    @Test("a memory alarm is announced, stops publishing, and ends")
    func memoryAlarm() throws {
        let (broker, live, message) = try open(heartbeat: 10)
        try broker.control(["set_vm_memory_high_watermark", "0.000001"])
        defer { _ = try? broker.control(["set_vm_memory_high_watermark", "0.6"]) }
        // The announcement comes to those who publish.
        while !live.session.isBlocked {
            _ = try live.session.publish(message, channel: 1)
            try live.connection.wait(until: .now().adding(.milliseconds(100)), delegate: live.recorder)
        }
        try live.wait(for: "alarm") { if case .blocked(let reason) = $0 { reason.contains("memory") } else { false } }
        #expect(try !live.session.publish(message, channel: 1))
        try broker.control(["set_vm_memory_high_watermark", "0.6"])
        try live.wait(for: "end of the alarm") { $0 == .unblocked }
        #expect(try live.session.publish(message, channel: 1))
        live.connection.close(within: .seconds(2), delegate: live.recorder)
    }

    @Test("a broker that dies is noticed by reading")
    func dies() throws {
        let (broker, live, _) = try open(heartbeat: 10)
        broker.crash()
        let error = #expect(throws: AMQPError.self) { try live.wait(for: "the end") { _ in false } }
        #expect(error?.code == .connectionLost)
        try broker.restart()
    }
}
