import EventLoop
import TestSupport

@testable import RabbitMQ

/// What a connection reported, in order.
enum Event: Equatable {
    case channelOpened(UInt16)
    case qosSet(UInt16)
    case consumeStarted(UInt16, String)
    case consumeCancelled(UInt16, String, byBroker: Bool)
    case confirmsSelected(UInt16)
    case channelClosed(UInt16, code: UInt16, text: String)
    case connectionClosed(code: UInt16, text: String)
    case blocked(String)
    case unblocked
    case delivered(
        UInt16, tag: UInt64, redelivered: Bool, exchange: String, key: String, properties: [UInt8], body: String,
        size: UInt64, isTruncated: Bool)
    case returned(UInt16, code: UInt16, id: String, exchange: String, key: String)
    case confirmed(UInt16, tag: UInt64, multiple: Bool, positive: Bool)
}

/// Writes down what a connection reports.
final class Recorder: AMQPSessionDelegate {
    var events: [Event] = []
    var lastDelivery: Delivery?
    /// Called for each event, for what a delegate may do from inside.
    var onEvent: ((Event) -> Void)?

    private func note(_ event: Event) {
        events.append(event)
        onEvent?(event)
    }
    private func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    func channelOpened(_ channel: UInt16) { note(.channelOpened(channel)) }
    func qosSet(_ channel: UInt16) { note(.qosSet(channel)) }
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) {
        note(.consumeStarted(channel, String(decoding: consumerTag, as: UTF8.self)))
    }
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        note(.consumeCancelled(channel, String(decoding: consumerTag, as: UTF8.self), byBroker: byBroker))
    }
    func confirmsSelected(_ channel: UInt16) { note(.confirmsSelected(channel)) }
    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        note(.channelClosed(channel, code: code, text: text))
    }
    func connectionClosed(code: UInt16, text: String) { note(.connectionClosed(code: code, text: text)) }
    func connectionBlocked(reason: String) { note(.blocked(reason)) }
    func connectionUnblocked() { note(.unblocked) }
    func delivered(_ delivery: consuming Delivery) {
        let message = delivery
        lastDelivery = message
        func text(_ range: Range<Int>) -> String { String(decoding: message.bytes[range], as: UTF8.self) }
        note(
            .delivered(
                message.channel, tag: message.deliveryTag, redelivered: message.redelivered,
                exchange: text(message.exchange), key: text(message.routingKey),
                properties: Array(message.bytes[message.properties]), body: text(message.body), size: message.bodySize,
                isTruncated: message.isTruncated))
    }
    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        note(
            .returned(channel, code: code, id: text(messageID), exchange: text(exchange), key: text(routingKey)))
    }
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        note(.confirmed(channel, tag: tag, multiple: multiple, positive: positive))
    }
}

/// A frame that the client sent.
struct SentFrame: Equatable {
    var type: UInt8
    var channel: UInt16
    var payload: [UInt8]

    /// Class and method number of a method frame.
    var method: UInt32? {
        type == 1 ? payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } : nil
    }
}

/// The broker's end of a session, played by the test: bytes go to and fro without a socket.
final class ScriptedBroker {
    let session: AMQPSession
    /// What the client sent while it logged in.
    private(set) var loginBytes: [UInt8] = []
    let recorder = Recorder()
    /// The time of everything that happens.
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    /// How many bytes the broker takes at most, each time; all by default.
    var appetite = Int.max
    private var unread: [UInt8] = []

    init(
        channelMax: UInt16 = 64, frameMax: UInt32 = 131_072, heartbeat: UInt16 = 60, bodyLimit: Int = 1 << 20,
        receiveLimit: Int = 0, welcome: [UInt8]? = nil
    ) throws {
        var endpoint = AMQPEndpoint(host: "127.0.0.1")
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
