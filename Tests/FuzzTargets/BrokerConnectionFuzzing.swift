import EventLoop
import PushWorker
import RabbitMQ

/// What a broker can send to a worker, down to the bytes.
enum BrokerConnectionFuzzing {
    /// The most of an input that is used, in bytes.
    private static let inputLimit = 1 << 16
    /// The largest body that is kept: small, so that inputs get beyond it.
    private static let bodyLimit = 1 << 10
    /// The time of everything that happens, so that inputs are repeatable.
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// The broker's half of an orderly login, with the smallest frames that are worked with, so that inputs exceed
    /// them.
    private static let welcome: [UInt8] =
        method(10, 10, [0, 9, 0, 0, 0, 0] + long("PLAIN") + long("en_US"))
        + method(10, 30, [0, 8, 0, 0, 32, 0, 0, 60]) + method(10, 41, [0])

    private static func long(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func method(_ classID: UInt8, _ methodID: UInt8, _ arguments: [UInt8]) -> [UInt8] {
        [1, 0, 0, 0, 0, 0, UInt8(arguments.count + 4), 0, classID, 0, methodID] + arguments + [0xCE]
    }

    /// The first byte says whether the login is part of the input (1), whether the connection is the one that consumes
    /// (2) or the one that publishes, and in how many pieces the rest comes (4 and up: one to eight), because frames do
    /// not end where reads do.
    static func connection(_ bytes: [UInt8]) {
        guard let options = bytes.first else { return }
        let input = Array(bytes.dropFirst().prefix(inputLimit))
        let isLoggedIn = options & 1 == 0
        let session = AMQPSession(
            AMQPEndpoint(host: "localhost"), clientName: "fuzz", clientVersion: "1", bodyLimit: bodyLimit,
            receiveLimit: options & 2 == 0 ? 0 : AMQPSession.consumingReceiveLimit, now: now)
        let lane = FuzzedLane(session, consumes: options & 2 != 0, bodyLimit: bodyLimit)
        if isLoggedIn {
            precondition(lane.receive(welcome, now: now) && session.isOpen, "an orderly login succeeds")
            lane.begin()
        }
        let pieces = 1 + Int(options >> 2 & 7)
        for piece in 0..<pieces {
            let wasOpen = session.isOpen
            let range = input.count * piece / pieces..<input.count * (piece + 1) / pieces
            guard lane.receive(Array(input[range]), now: now) else { return }
            if !wasOpen, session.isOpen { lane.begin() }
            // Takes what the worker wrote, as a broker would.
            session.withPendingOutput(now: now) { $0.count }
        }
        session.close()
        _ = lane.receive(method(10, 51, []), now: now)
    }
}

/// Does with a session what a lane does, from inside the session's reports.
private final class FuzzedLane: AMQPSessionDelegate {
    /// Closed channels are opened again, but no more often than this.
    private static let openingLimit = 16

    private let session: AMQPSession
    private let consumes: Bool
    private let bodyLimit: Int
    private var openings = 0
    private var confirms = ConfirmTracker<UInt64>()
    /// What was published on the first channel and has no confirm yet.
    private var unconfirmed: Set<UInt64> = []
    private var message = OutgoingMessage()
    private var published: UInt64 = 0

    init(_ session: AMQPSession, consumes: Bool, bodyLimit: Int) {
        self.session = session
        self.consumes = consumes
        self.bodyLimit = bodyLimit
    }

    /// Opens two channels, unless the broker allows only one.
    func begin() {
        for channel in 1...UInt16(min(2, max(1, session.channelMax))) { open(channel) }
    }

    /// Takes what the broker sent; false after an error.
    func receive(_ bytes: [UInt8], now: MonotonicTime) -> Bool {
        do throws(AMQPError) {
            try session.receive(bytes.span, delegate: self, now: now)
            return true
        } catch {
            precondition(!error.message.isEmpty && session.isClosed, "an error ends the session, and says why")
            return false
        }
    }

    private func open(_ channel: UInt16) {
        guard openings < Self.openingLimit else { return }
        openings += 1
        try? session.openChannel(channel)
    }

    private func publish() {
        let id = Self.messageID(published)
        message.reset()
        message.setExchange("apns.results")
        message.setRoutingKey("accepted")
        message.setMessageID(id.span)
        message.setBody([123, 125].span)
        message.isMandatory = true
        guard (try? session.publish(message, channel: 1)) == true else { return }
        confirms.published(published, now: MonotonicTime(nanoseconds: 0))
        unconfirmed.insert(published)
        published += 1
    }

    private static func messageID(_ number: UInt64) -> [UInt8] { Array("id-\(number)".utf8) }

    func channelOpened(_ channel: UInt16) {
        if consumes {
            try? session.setPrefetch(channel, count: 100)
        } else {
            try? session.selectConfirms(channel)
        }
    }

    func qosSet(_ channel: UInt16) {
        try? session.startConsuming(channel, queue: "apns.q.jobs.fuzz", consumerTag: "martlet-\(channel)")
    }

    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) { precondition(consumerTag.count <= 255) }

    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        precondition(consumerTag.count <= 255)
        if byBroker {
            try? session.closeChannel(channel)
        } else {
            try? session.cancel(channel, consumerTag: "martlet-\(channel)")
        }
    }

    func confirmsSelected(_ channel: UInt16) { if channel == 1, !consumes { publish() } }

    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        if channel == 1 {
            let lost = confirms.channelLost()
            precondition(Set(lost) == unconfirmed && lost.count == unconfirmed.count, "each has one fate")
            unconfirmed = []
        }
        open(channel)
    }

    func connectionClosed(code: UInt16, text: String) {}

    func connectionBlocked(reason: String) {
        precondition((try? session.publish(message, channel: 1)) != true, "nothing is published in an alarm")
    }

    func connectionUnblocked() { if !consumes { publish() } }

    func delivered(_ delivery: consuming Delivery) {
        let delivery = delivery
        precondition(delivery.channel > 0 && delivery.body.count <= bodyLimit)
        precondition(delivery.isTruncated ? delivery.body.isEmpty : delivery.bodySize == UInt64(delivery.body.count))
        precondition(delivery.exchange.count <= 255 && delivery.routingKey.count <= 255)
        precondition(delivery.bytes.count == delivery.body.upperBound)
        BrokerFuzzing.properties(Array(delivery.bytes[delivery.properties]))
        let (channel, tag) = (delivery.channel, delivery.deliveryTag)
        switch tag % 4 {
        case 0: _ = try? session.reject(channel: channel, deliveryTag: tag, requeue: false)
        case 1:
            _ = try? session.negativeAcknowledge(channel: channel, deliveryTag: tag, multiple: true, requeue: true)
        default: _ = try? session.acknowledge(channel: channel, deliveryTag: tag, multiple: delivery.redelivered)
        }
    }

    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        precondition(exchange.count <= 255 && routingKey.count <= 255)
        let id = messageID.withUnsafeBufferPointer { Array($0) }
        if channel == 1 { _ = confirms.returned { Self.messageID($0) == id } }
    }

    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        guard channel == 1 else { return }
        let isKnown = confirms.confirmed(tag, multiple: multiple, positive: positive) { number, _ in
            precondition(unconfirmed.remove(number) != nil, "each has one fate")
        }
        precondition(confirms.unconfirmed == unconfirmed.count)
        if isKnown, !consumes { publish() }
    }
}
