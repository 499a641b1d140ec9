import EventLoop
import Glibc
import Logging
import RabbitMQ
import Synchronization
import TestSupport
import Testing

@testable import PushWorker

@Suite("The watchdog of the lanes", .timeLimit(.minutes(1)))
struct LaneWatchdogTests {
    @Test("a lane is stuck after ten looks without a turn, again after as many, and recovers with its next turn")
    func looks() {
        var watch = LaneWatch()
        var found: [Int: LaneWatch.Finding] = [:]
        for look in 0...25 {
            let finding = watch.look(turns: 4)
            if finding != .fine { found[look] = finding }
        }
        #expect(found == [10: .stuck(looks: 10), 20: .stuck(looks: 20)])
        #expect(watch.look(turns: 5) == .recovered)
        #expect(watch.look(turns: 6) == .fine)
    }

    @Test("a lane that turns now and then is not stuck")
    func slow() {
        var watch = LaneWatch()
        for look in 0..<200 { #expect(watch.look(turns: UInt64(look / 9)) == .fine) }
    }

    @Test("a send that waits for a peer which reads nothing is ended by the watchdog, and its lane turns again")
    func blockedSend() async throws {
        let listener = try Listener(address: .loopback(port: 0))
        var endpoint = AMQPEndpoint(host: "127.0.0.1", port: Int(listener.address.port))
        endpoint.heartbeat = 60
        let port = endpoint
        let pulse = LanePulse()
        let (steps, feed) = AsyncStream.makeStream(of: String.self)
        _ = try LoopThread.start(name: "hanging-lane") {
            do throws(AMQPError) {
                let connection = try AMQPConnection.open(port, clientName: "test", bodyLimit: 0)
                pulse.opened(.publish, fileDescriptor: connection.fileDescriptor)
                pulse.turn()
                pulse.enter(.publishing)
                var message = OutgoingMessage()
                message.setExchange("x")
                // Larger than all buffers on the way: the one kind of message that may wait for the peer.
                message.setBody([UInt8](repeating: 1, count: 64 << 20).span)
                // It needs an empty buffer, which the login's last bytes may not have left yet.
                while try !connection.publish(message, channel: 1) {
                    sched_yield()
                    connection.refreshRoom()
                    pulse.turn()
                    pulse.enter(.publishing)
                }
                feed.yield("sent")
            } catch {
                feed.yield(error.code == .connectionLost ? "lost" : "\(error)")
            }
            pulse.closed(.publish)
            pulse.turn()
        }
        // Logs in, and never reads.
        var peer: Socket?
        while peer == nil { peer = try listener.accept() }
        let welcome = Wire.welcome()
        guard let socket = peer.take() else { return }
        #expect(try socket.write(welcome.span) == welcome.count)

        let lines = LogLines()
        let watchdog = LaneWatchdog(lanes: [(3, pulse)], logger: lines.logger, interval: .milliseconds(20))
        _ = try LoopThread.start(name: "watchdog") { watchdog.run() }
        for await step in steps {
            #expect(step == "lost")
            break
        }
        for await line in lines.stream where line.hasPrefix("a lane turns again") { break }
        watchdog.stop()
        let told = lines.all
        #expect(told.contains { $0.contains("does not turn") && $0.contains("publishing to the broker") }, "\(told)")
        #expect(!pulse.isStuck)
        _ = socket.fileDescriptor
    }
}

/// Keeps what is logged.
final class LogLines: Sendable {
    let stream: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation
    private let lines = Mutex<[String]>([])
    private let hook = Mutex<(@Sendable (String) -> Void)?>(nil)

    init() { (stream, feed) = AsyncStream.makeStream(of: String.self) }

    /// What was logged so far: message and metadata.
    var all: [String] { lines.withLock(\.self) }

    /// Logs to here.
    var logger: Logger { Logger(label: "lines") { _ in Handler(lines: self) } }

    /// Called for each line, on the thread that logs it.
    var onLine: (@Sendable (String) -> Void)? {
        get { hook.withLock(\.self) }
        set { hook.withLock { $0 = newValue } }
    }

    private func add(_ line: String) {
        lines.withLock { $0.append(line) }
        feed.yield(line)
        onLine?(line)
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])") }
    }
}
