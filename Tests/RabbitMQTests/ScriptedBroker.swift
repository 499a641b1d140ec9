import EventLoop
import TestSupport

@testable import RabbitMQ

/// The broker's end of a session, played by the test: bytes go to and fro without a socket.
final class ScriptedBroker {
    let session: AMQPSession
    /// What the client sent while it logged in.
    private(set) var loginBytes: [UInt8] = []
    let recorder = SessionRecorder()
    /// The time of everything that happens.
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    /// How many bytes the broker takes at most, each time; all by default.
    var appetite = Int.max
    private var unread: [UInt8] = []

    init(
        channelMax: UInt16 = 64, frameMax: UInt32 = 131_072, heartbeat: UInt16 = 60, bodyLimit: Int = 1 << 20,
        receiveLimit: Int = 0, password: String? = nil, welcome: [UInt8]? = nil
    ) throws {
        var endpoint = AMQPEndpoint(host: "127.0.0.1")
        if let password { endpoint.password = password }
        endpoint.heartbeat = Int(heartbeat)
        session = AMQPSession(
            endpoint, clientName: "test client", clientVersion: "9.9", bodyLimit: bodyLimit,
            receiveLimit: receiveLimit, now: now)
        try send(welcome ?? Wire.welcome(channelMax: channelMax, frameMax: frameMax, heartbeat: heartbeat))
        guard session.isOpen else { throw AMQPError(.timeout, "the greeting was not the whole of a login") }
        loginBytes = drain()
    }

    /// Sends bytes and lets the session read them.
    func send(_ bytes: [UInt8]) throws(AMQPError) {
        try session.receive(bytes.span, delegate: recorder, now: now)
    }

    /// Opens channels and forgets the events and frames of that.
    func open(_ channels: UInt16...) throws {
        for channel in channels {
            try session.openChannel(channel)
            try send(Wire.method(channel, 20, 11) { $0.long([]) })
        }
        recorder.events.removeAll()
        _ = frames()
    }

    /// The complete frames that the client sent since the last call.
    func frames() -> [SentFrame] {
        unread += drain()
        var frames: [SentFrame] = []
        var rest = unread[...]
        while rest.count >= 8 {
            let start = rest.startIndex
            let size = rest[(start + 3)..<(start + 7)].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= size + 8 else { break }
            frames.append(
                SentFrame(
                    type: rest[start], channel: UInt16(rest[start + 1]) << 8 | UInt16(rest[start + 2]),
                    payload: Array(rest[(start + 7)..<(start + 7 + size)])))
            rest = rest[(start + size + 8)...]
        }
        unread = Array(rest)
        return frames
    }

    /// Takes what the session has to send.
    private func drain() -> [UInt8] {
        var all: [UInt8] = []
        session.withPendingOutput(now: now) { bytes in
            let taken = min(appetite, bytes.count)
            bytes.extracting(0..<taken).withUnsafeBufferPointer { all += $0 }
            return taken
        }
        return all
    }
}
