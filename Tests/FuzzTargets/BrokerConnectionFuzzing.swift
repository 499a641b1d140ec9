import Glibc
import PushWorker

@testable import RabbitMQ

/// What a broker can send to a worker, down to the frames.
///
/// The broker is the other end of a pair of sockets: what it has to say lies there before it is read, and nothing else
/// ever follows, so that no one waits.
enum BrokerConnectionFuzzing {
    /// The most of an input that is used, in bytes. rabbitmq-c keeps memory for each channel number it meets, also in
    /// frames that it passes over, and goes one call deeper with each level of a table, which takes seven bytes. A worker
    /// reads on a large stack and under a memory limit; so little as this does no harm to the thread of a test either.
    private static let inputLimit = 1 << 14
    /// The largest body that is kept: small, so that inputs get beyond it.
    private static let bodyLimit = 1 << 10
    /// How many frames are read in one turn: few, so that inputs need several.
    private static let framesPerTurn = 5

    /// The broker's half of an orderly login, with the smallest frames that are worked with, so that inputs exceed them.
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
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            preconditionFailure("a pair of sockets can always be made")
        }
        let broker = ends[1]
        defer { close(broker) }
        guard
            let connection = try? AMQPConnection(endpoint: AMQPEndpoint(host: "localhost"), bodyLimit: bodyLimit),
            (try? connection.adopt(owned: ends[0])) != nil
        else { preconditionFailure("a connection can always be made") }
        send(isLoggedIn ? welcome : input, to: broker)
        // Without this a login that wants more would wait for it.
        if !isLoggedIn { shutdown(broker, Int32(SHUT_WR)) }
        do {
            try connection.logIn(clientName: "fuzz", clientVersion: "1")
            try connection.settle(receiveLimit: options & 2 == 0 ? 0 : 1 << 20)
        } catch {
            precondition(!isLoggedIn, "an orderly login succeeds: \(error.message)")
            return
        }
        let lane = FuzzedLane(connection, consumes: options & 2 != 0, bodyLimit: bodyLimit)
        lane.begin()
        let pieces = isLoggedIn ? 1 + Int(options >> 2 & 7) : 1
        for piece in 0..<pieces {
            if isLoggedIn {
                let range = input.count * piece / pieces..<input.count * (piece + 1) / pieces
                send(Array(input[range]), to: broker)
            }
            guard lane.readAll(framesPerTurn) else { return }
            drain(broker)
        }
        shutdown(broker, Int32(SHUT_WR))
        connection.close()
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) {
        precondition(write(socket, bytes, bytes.count) == bytes.count, "an input fits into a socket")
    }

    /// Takes what the worker wrote, as a broker would.
    private static func drain(_ socket: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { buffer in
            while recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
    }
}

/// Does with a connection what a lane does, from inside the connection's reports.
private final class FuzzedLane: AMQPConnectionDelegate {
    /// Closed channels are opened again, but no more often than this.
    private static let openingLimit = 16

    private let connection: AMQPConnection
    private let consumes: Bool
    private let bodyLimit: Int
    private var openings = 0
    private var confirms = ConfirmTracker<UInt64>()
    /// What was published on the first channel and has no confirm yet.
    private var unconfirmed: Set<UInt64> = []
    private var message = OutgoingMessage()
    private var published: UInt64 = 0

    init(_ connection: AMQPConnection, consumes: Bool, bodyLimit: Int) {
        self.connection = connection
        self.consumes = consumes
        self.bodyLimit = bodyLimit
    }

    /// Opens two channels, unless the broker allows only one.
    func begin() {
        for channel in 1...UInt16(min(2, max(1, connection.channelMax))) { open(channel) }
    }

    /// Reads all there is, in turns; false after an error.
    func readAll(_ framesPerTurn: Int) -> Bool {
        do {
            // No clock: `lastHeard` is as good a time as any, and makes inputs repeatable.
            var isMore = true
            while isMore {
                isMore = try connection.read(frames: framesPerTurn, delegate: self, now: connection.lastHeard)
            }
            return true
        } catch {
            precondition(!error.message.isEmpty && connection.isDead, "an error ends the connection, and says why")
            return false
        }
    }

    private func open(_ channel: UInt16) {
        guard openings < Self.openingLimit else { return }
        openings += 1
        try? connection.openChannel(channel)
    }

    private func publish() {
        let id = Self.messageID(published)
        message.reset()
        message.setExchange("apns.results")
        message.setRoutingKey("accepted")
        message.setMessageID(id.span)
        message.setBody([123, 125].span)
        message.isMandatory = true
        guard (try? connection.publish(message, channel: 1)) == true else { return }
        confirms.published(published)
        unconfirmed.insert(published)
        published += 1
    }

    private static func messageID(_ number: UInt64) -> [UInt8] { Array("id-\(number)".utf8) }

    func channelOpened(_ channel: UInt16) {
        if consumes {
            try? connection.setPrefetch(channel, count: 100)
        } else {
            try? connection.selectConfirms(channel)
        }
    }

    func qosSet(_ channel: UInt16) {
        try? connection.startConsuming(channel, queue: "apns.q.jobs.fuzz", consumerTag: "martlet-\(channel)")
    }

    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) { precondition(consumerTag.count <= 255) }

    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        precondition(consumerTag.count <= 255)
        if byBroker {
            try? connection.closeChannel(channel)
        } else {
            try? connection.cancel(channel, consumerTag: "martlet-\(channel)")
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
        precondition(connection.refreshRoom() == 0, "there is no room while the broker reads nothing")
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
        case 0: _ = try? connection.reject(channel: channel, deliveryTag: tag, requeue: false)
        case 1:
            _ = try? connection.negativeAcknowledge(channel: channel, deliveryTag: tag, multiple: true, requeue: true)
        default: _ = try? connection.acknowledge(channel: channel, deliveryTag: tag, multiple: delivery.redelivered)
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
