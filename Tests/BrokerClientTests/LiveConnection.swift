import BrokerClient
import EventLoop
import TestSupport

@testable import RabbitMQ

/// A connection driven by hand against a real broker.
final class LiveConnection {
    let connection: BrokerConnection
    let recorder = SessionRecorder()
    var session: AMQPSession { connection.session }

    init(to uri: String? = nil, consumes: Bool = false, bodyLimit: Int = 1 << 20, heartbeat: Int = 10) throws {
        var endpoint = try uri.map { try AMQPEndpoint.parse(uri: $0) } ?? LiveBroker.endpoint
        endpoint.heartbeat = heartbeat
        connection = try Self.open(endpoint, bodyLimit: bodyLimit, consumes: consumes)
    }

    /// Connects to the first address of an endpoint.
    static func open(
        _ endpoint: AMQPEndpoint, bodyLimit: Int = 0, consumes: Bool = false
    ) throws(AMQPError) -> BrokerConnection {
        let connection = try BrokerConnection(
            try BrokerTarget.find(endpoint)[0], clientName: "test", bodyLimit: bodyLimit, consumes: consumes,
            now: .now())
        let recorder = SessionRecorder()
        while connection.stage != .open { try connection.wait(until: nil, delegate: recorder) }
        return connection
    }

    /// Reads until an event has been reported that was not waited for before.
    @discardableResult
    func wait(for what: String, seconds: Int = 30, _ isMeant: (SessionEvent) -> Bool) throws -> SessionEvent {
        let deadline = MonotonicTime.now().adding(.seconds(seconds))
        while true {
            if let index = recorder.events.firstIndex(where: isMeant) { return recorder.events.remove(at: index) }
            guard MonotonicTime.now() < deadline else {
                throw AMQPError(.timeout, "\(what) did not happen; instead \(recorder.events.suffix(3))")
            }
            try connection.wait(until: deadline, delegate: recorder)
        }
    }

    /// Writes and reads what can be without waiting.
    func turn() throws { try connection.wait(until: .now(), delegate: recorder) }

    func openChannel(_ channel: UInt16) throws {
        try session.openChannel(channel)
        try wait(for: "channel") { $0 == .channelOpened(channel) }
    }
}
