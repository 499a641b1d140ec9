import BrokerClient
import EventLoop
import LocalStack
import RabbitMQ
import Testing

@testable import PushWorker

/// Writes down what a link reports.
private final class LinkRecorder: BrokerLinkDelegate {
    /// Errors of addresses that others were tried instead of.
    var failures: [AMQPError] = []
    /// Errors of connections, or of all addresses.
    var losses: [AMQPError] = []

    func connectionOpened(_ role: BrokerLink.Role, now: MonotonicTime) {}
    func addressFailed(_ role: BrokerLink.Role, error: AMQPError) { failures.append(error) }
    func connectionLost(_ role: BrokerLink.Role, error: AMQPError, now: MonotonicTime) { losses.append(error) }
    func channelOpened(_ channel: UInt16) {}
    func qosSet(_ channel: UInt16) {}
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {}
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {}
    func confirmsSelected(_ channel: UInt16) {}
    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {}
    func connectionClosed(code: UInt16, text: String) {}
    func connectionBlocked(reason: String) {}
    func connectionUnblocked() {}
    func delivered(_ delivery: consuming Delivery) {}
    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {}
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {}
}

@Suite("A link to a broker with several addresses", .timeLimit(.minutes(1)))
struct BrokerLinkTests {
    private let loop: EventLoop
    private let recorder = LinkRecorder()
    private let link: BrokerLink

    init() throws {
        loop = try EventLoop()
        link = BrokerLink(
            role: .publish, identity: BrokerLink.Identity(name: "test", version: ""), loop: loop, delegate: recorder,
            now: .now()
        ) { _, _ in }
    }

    /// Begins a look-up, as if the pause before it were over, answers it with these ports, and waits for the outcome.
    ///
    /// - Parameter number: Which look-up of the link it is, from 1.
    private func connect(_ number: Int, to ports: [Int]) throws {
        let targets = try BrokerTarget.find(AMQPEndpoint(host: "broker.test")) { _, _ in
            ports.map { SocketAddress.loopback(port: $0) }
        }
        let losses = recorder.losses.count
        link.tick(now: .now().adding(.seconds(60)))
        link.found(.success(targets), number: number, now: .now())
        while link.session == nil, recorder.losses.count == losses {
            try loop.turn(waitingAtMost: .milliseconds(20)) { _ in }
            link.tick(now: .now())
        }
    }

    @Test("an address that refuses is passed over for the next one, and that is told once until its reason changes")
    func next() throws {
        let broker = try FakeBroker()
        defer { broker.stop() }
        let dead = try FreePort.several(3)
        try connect(1, to: [dead[0], dead[1], broker.port])
        #expect(link.opened == 1 && recorder.losses.isEmpty)
        #expect(recorder.failures.map(\.code) == [.unreachable, .unreachable])
        #expect(recorder.failures.first?.message.contains("127.0.0.1:\(dead[0])") == true)
        #expect(recorder.failures.first?.message.contains("Connection refused") == true)
        #expect(link.trouble == nil)
        // The same once more, and again where no address works: of the last one the loss tells.
        link.failed(AMQPError(.connectionLost, "for the test"), now: .now())
        try connect(2, to: [dead[0], dead[1], broker.port])
        #expect(link.opened == 2 && recorder.failures.count == 2)
        link.failed(AMQPError(.connectionLost, "for the test"), now: .now())
        try connect(3, to: [dead[0], dead[2]])
        #expect(recorder.losses.map(\.code) == [.connectionLost, .connectionLost, .unreachable])
        #expect(recorder.failures.count == 2)
        // One that was not among the addresses meanwhile is news.
        try connect(4, to: [dead[1], broker.port])
        #expect(link.opened == 3 && recorder.failures.count == 3)
        link.close(within: .zero)
    }

    @Test("a broker that refuses the login is asked at no other address")
    func refused() throws {
        let broker = try FakeBroker(FakeBroker.Behaviour(refusesLogins: true))
        let other = try FakeBroker()
        defer {
            broker.stop()
            other.stop()
        }
        try connect(1, to: [broker.port, other.port])
        #expect(link.opened == 0 && recorder.failures.isEmpty)
        #expect(recorder.losses.map(\.code) == [.refused])
        link.close(within: .zero)
    }

    @Test("nothing is left of a lost connection, however often the broker goes")
    func freed() throws {
        let broker = try FakeBroker()
        defer { broker.stop() }
        for number in 1...4 {
            try connect(number, to: [broker.port])
            weak let session = link.session
            #expect(session != nil)
            link.failed(AMQPError(.connectionLost, "for the test"), now: .now())
            #expect(session == nil)
        }
        link.close(within: .zero)
    }

    @Test("brokers that take connections and are silent are waited for as long as the attempt's patience allows")
    func silent() throws {
        let ports = try FreePort.several(2)
        let targets = try BrokerTarget.find(AMQPEndpoint(host: "broker.test")) { _, _ in
            ports.map { SocketAddress.loopback(port: $0) }
        }
        var now = MonotonicTime.now()
        // No turn of the loop: nobody hears what the ports say.
        for (number, seconds) in [2, 4, 8, 10, 10].enumerated() {
            link.tick(now: now)
            link.found(.success(targets), number: number + 1, now: now)
            for _ in targets {
                let due = try #require(link.nextDue(now: now))
                #expect(due == now.adding(.seconds(seconds)))
                now = due
                link.tick(now: now)
            }
            #expect(recorder.losses.count == number + 1)
            // Longer than any step of the back-off.
            now = now.adding(.seconds(60))
        }
        #expect(recorder.losses.allSatisfy { $0.code == .timeout })
        link.close(within: .zero)
    }

    @Test("a look-up that hangs is given up after its patience, its late answer is ignored, and another one begins")
    func hungLookUp() {
        let asked = MonotonicTime.now()
        link.tick(now: asked)
        let end = asked.adding(BlockingCall.patience)
        #expect(link.nextDue(now: asked) == end)
        link.tick(now: asked.adding(BlockingCall.patience - .nanoseconds(1)))
        #expect(recorder.losses.isEmpty)
        link.tick(now: end)
        #expect(recorder.losses.map(\.code) == [.unresolved])
        #expect(link.trouble?.contains("took longer than 60") == true, "\(link.trouble ?? "")")

        let late = AMQPError(.unresolved, "late")
        link.found(.failure(late), number: 1, now: end)
        #expect(recorder.losses.count == 1)
        let again = end.adding(.seconds(60))
        link.tick(now: again)
        link.found(.failure(late), number: 1, now: again)
        #expect(recorder.losses.count == 1)
        link.found(.failure(AMQPError(.unresolved, "in time")), number: 2, now: again)
        #expect(recorder.losses.map(\.message).last == "in time")
        link.close(within: .zero)
    }
}
