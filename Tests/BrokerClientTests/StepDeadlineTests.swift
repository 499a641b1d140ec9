import EventLoop
import Glibc
import TestSupport
import Testing

@testable import BrokerClient
@testable import RabbitMQ

@Suite("How long each step to a broker may take", .timeLimit(.minutes(1)))
final class StepDeadlineTests {
    private static let patience = Duration.seconds(2)
    /// Accepts connections, as the system does for it, and says nothing.
    private let mute: Listener
    private let recorder = SessionRecorder()

    init() throws {
        mute = try Listener(address: .loopback(port: 0))
    }

    /// A connection that begins at `start`.
    private func connection(isEncrypted: Bool, start: MonotonicTime) throws -> BrokerConnection {
        let endpoint = AMQPEndpoint(host: "localhost", port: Int(mute.address.port), useTLS: isEncrypted)
        let tls = isEncrypted ? try ThrowawayCertificates().clientContext() : nil
        return try BrokerConnection(
            BrokerTarget(endpoint: endpoint, address: mute.address, tls: tls), clientName: "test", bodyLimit: 0,
            consumes: false, patience: Self.patience, now: start)
    }

    /// The broker's end of a connection.
    private func accepted() throws -> Socket {
        while true {
            if let socket = try mute.accept() { return socket }
        }
    }

    /// Expects a step that began at a time to last until its patience ends, and no longer.
    private func expectEnd(
        of connection: BrokerConnection, begunAt start: MonotonicTime, words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let end = start.adding(Self.patience)
        #expect(connection.nextDue(now: start) == end, sourceLocation: sourceLocation)
        try connection.advance([], delegate: recorder, now: start.adding(Self.patience - .nanoseconds(1)))
        let error = #expect(throws: AMQPError.self, sourceLocation: sourceLocation) {
            try connection.advance([], delegate: recorder, now: end)
        }
        #expect(error?.code == .timeout, sourceLocation: sourceLocation)
        let message = error?.message ?? ""
        #expect(message.hasPrefix(words) && message.hasSuffix("within 2.0 seconds"), sourceLocation: sourceLocation)
    }

    @Test("a connection that nobody takes or refuses is given up", arguments: [false, true])
    func connecting(isEncrypted: Bool) throws {
        let start = MonotonicTime.now()
        let connection = try connection(isEncrypted: isEncrypted, start: start)
        // Nothing says that the socket is ready.
        #expect(connection.stage == .connecting && connection.interest == .writable)
        try expectEnd(of: connection, begunAt: start, words: "no connection to localhost (127.0.0.1:")
    }

    @Test(
        "the next step has a patience of its own: a broker that agrees to no TLS, or answers no login, is given up",
        arguments: [
            (true, .securing, "no TLS connection to localhost ("), (false, .loggingIn, "no answer to the login"),
        ] as [(Bool, BrokerConnection.Stage, String)])
    func next(isEncrypted: Bool, stage: BrokerConnection.Stage, words: String) throws {
        let start = MonotonicTime.now()
        let connection = try connection(isEncrypted: isEncrypted, start: start)
        var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&descriptor, 1, -1) == 1)
        let connected = start.adding(.seconds(1))
        try connection.advance(.writable, delegate: recorder, now: connected)
        #expect(connection.stage == stage)
        try expectEnd(of: connection, begunAt: connected, words: words)
    }

    @Test("a broker that has begun to answer has the time that its address allows, from its first word on")
    func slow() throws {
        let start = MonotonicTime.now()
        let connection = try connection(isEncrypted: false, start: start)
        var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&descriptor, 1, -1) == 1)
        try connection.advance(.writable, delegate: recorder, now: start)
        let broker = try accepted()
        let welcome = Wire.welcome()
        let answer = Duration.seconds(1) + .seconds(10)
        // The first byte counts, and others do not: nobody may go on like this for ever.
        for (seconds, byte) in [(1, 0), (3, 1)] {
            let word = [welcome[byte]]
            let sent = try broker.write(word.span)
            #expect(sent == 1)
            descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
            #expect(poll(&descriptor, 1, -1) == 1)
            try connection.advance(.readable, delegate: recorder, now: start.adding(.seconds(seconds)))
        }
        let end = start.adding(answer)
        #expect(connection.nextDue(now: start) == end)
        try connection.advance([], delegate: recorder, now: start.adding(answer - .nanoseconds(1)))
        let error = #expect(throws: AMQPError.self) { try connection.advance([], delegate: recorder, now: end) }
        #expect(error?.code == .timeout && error?.message.hasSuffix("within 10.0 seconds") == true)
    }
}
