import EventLoop
import Glibc
import LocalStack

@testable import RabbitMQ

/// A RabbitMQ that the tests of this module share, started when first needed.
enum LiveBroker {
    private static let started = Result { try PrivateBroker.start() }

    static var broker: PrivateBroker { get throws { try started.get() } }

    static var endpoint: AMQPEndpoint { get throws { try AMQPEndpoint.parse(uri: broker.uri) } }

    static func client(patience: Duration = .seconds(30)) throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(endpoint, clientName: "test", patience: patience)
    }

    /// A name no other test uses.
    static func name(_ what: String) -> String { "\(what).\(UInt32.random(in: 0 ..< .max))" }
}

/// A connection driven by hand against a real broker.
final class LiveConnection {
    let connection: AMQPConnection
    let recorder = Recorder()

    init(
        to uri: String? = nil, receiveLimit: Int = 0, bodyLimit: Int = 1 << 20, heartbeat: Int = 10
    ) throws {
        var endpoint = try uri.map { try AMQPEndpoint.parse(uri: $0) } ?? LiveBroker.endpoint
        endpoint.heartbeat = heartbeat
        connection = try AMQPConnection.open(
            endpoint, clientName: "test", bodyLimit: bodyLimit, receiveLimit: receiveLimit)
        connection.refreshRoom()
    }

    /// Reads until an event has been reported that was not waited for before.
    @discardableResult
    func wait(for what: String, seconds: Int = 30, _ isMeant: (Event) -> Bool) throws -> Event {
        let deadline = MonotonicTime.now().adding(.seconds(seconds))
        while true {
            if let index = recorder.events.firstIndex(where: isMeant) { return recorder.events.remove(at: index) }
            guard MonotonicTime.now() < deadline else {
                throw AMQPError(.timeout, "\(what) did not happen; instead \(recorder.events.suffix(3))")
            }
            if try connection.read(frames: 100, delegate: recorder, now: .now()) { continue }
            if recorder.events.contains(where: isMeant) { continue }
            var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, 200)
        }
    }

    func openChannel(_ channel: UInt16) throws {
        try connection.openChannel(channel)
        try wait(for: "channel") { $0 == .channelOpened(channel) }
    }

    /// Publishes on channel 1 if that is possible now.
    func publishIfPossible(_ message: borrowing OutgoingMessage) throws {
        connection.refreshRoom()
        _ = try connection.publish(message, channel: 1)
    }
}

/// Runs a test's body on a thread with the stack that AMQP threads have.
func onLoopThread(stackSize: Int = 64 << 20, _ body: sending @escaping () throws -> Void) throws {
    nonisolated(unsafe) var failure: (any Error)?  // written before the thread ends, read after
    nonisolated(unsafe) let work = body
    let thread = try LoopThread.start(name: "amqp-test", stackSize: stackSize) {
        do { try work() } catch { failure = error }
    }
    thread.join()
    if let failure { throw failure }
}
