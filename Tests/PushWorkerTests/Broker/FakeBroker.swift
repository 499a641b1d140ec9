import EventLoop
import Glibc
import PushModel
import RabbitMQ
import Synchronization
import TestSupport
import Testing

@testable import PushWorker
@testable import WorkerSettings

/// A broker that speaks just enough AMQP for a lane, and does what no real one can be brought to do.
final class FakeBroker: Sendable {
    /// What a client did, in order. Publishers and consumers are counted apart, from 1.
    enum Event: Sendable, Equatable {
        /// A connection asked for confirms.
        case publisher(Int)
        /// A connection started a consumer, for the first time or again.
        case consumer(Int)
        /// A consumer was cancelled.
        case cancelled(Int)
        case published(publisher: Int, exchange: String, id: String)
        case acknowledged(consumer: Int, tag: UInt64)
        case requeued(consumer: Int, tag: UInt64)
        /// A channel was closed over a publication.
        case closed(publisher: Int)
    }

    /// A method that a client sent.
    struct Request: Sendable, Equatable {
        /// The number of its connection, from 1.
        var connection: Int
        var channel: UInt16
        /// Class and number, such as 60 and 20 for basic.consume.
        var classID: Int
        var methodID: Int
    }

    /// What it does.
    struct Behaviour: Sendable {
        /// Messages delivered to a connection's first consumer when it starts.
        var deliveries = 1
        /// The queue they are in; nil for whichever is consumed first.
        var queue: String?
        /// Their routing key.
        var key = "nowhere"
        /// Whether the first consumer of every channel has them delivered.
        var deliversOnEveryChannel = false
        /// Whether it delivers no more than the prefetch allows on the connection of this number, from 1.
        var heedsPrefetch: @Sendable (Int) -> Bool = { _ in true }
        /// Whether it takes notice of a method, all of which are shown.
        var heeds: @Sendable (Request) -> Bool = { _ in true }
        /// Whether it ends the connection once it has answered this method.
        var hangsUp: @Sendable (Request) -> Bool = { _ in false }
        /// Whether it says anything on the connection of this number, from 1.
        var greets: @Sendable (Int) -> Bool = { _ in true }
        /// Whether it refuses every login.
        var refusesLogins = false
        /// The heartbeat it wants, in seconds; it sends none itself.
        var heartbeat: UInt16 = 60
        /// The id that all of these jobs have; nil for none.
        var jobID: String?
        /// Whether it answers the publisher of this number when it asks for confirms.
        var opensChannels: @Sendable (Int) -> Bool = { _ in true }
        /// How it answers what the publisher of this number publishes.
        var answer: @Sendable (Int) -> Answer = { _ in .confirms }
        /// Whether it never answers a publisher's publication of this number on this channel.
        var ignores: @Sendable (_ publisher: Int, _ channel: UInt16, _ number: UInt64) -> Bool = { _, _, _ in false }
        /// The exchange whose publications it never answers; nil for none.
        var silentExchange: String?
        /// Where these jobs want their replies; nil for nowhere.
        var replyTo: String?
        /// The first publication of a channel that is answered, and all before it with it.
        var firstAnswered: UInt64 = 1
        /// Whether a channel's publication of this number, to this exchange, comes back before it is answered.
        var returns: @Sendable (_ exchange: String, _ number: UInt64) -> Bool = { _, _ in false }
        /// Whether a publication with this exchange and id costs its channel, as one to an exchange that is missing
        /// does.
        var closesChannel: @Sendable (_ exchange: String, _ id: String) -> Bool = { _, _ in false }
        /// The code and the words with which it closes a channel then.
        var closing: (code: UInt16, text: String) = (404, "NOT_FOUND")
    }

    /// How a publication is answered.
    enum Answer: Sendable {
        case confirms, refuses, keepsSilent
    }

    private struct State {
        var connections = 0
        var publishers = 0
        var consumers = 0
        var isStopped = false
    }

    /// Where it listens.
    let port: Int
    /// What happens.
    let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation
    private let behaviour: Behaviour
    private let state = Mutex(State())

    init(_ behaviour: Behaviour = Behaviour()) throws {
        self.behaviour = behaviour
        (events, feed) = AsyncStream.makeStream(of: Event.self)
        let listener = try Listener(address: .loopback(port: 0))
        port = Int(listener.address.port)
        let shared = Mutex<Listener?>(consume listener)
        _ = try LoopThread.start(name: "fake-broker") { [self] in
            guard let listener = shared.withLock({ $0.take() }) else { return }
            while !isStopped {
                var waiting = pollfd(fd: listener.fileDescriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 50) == 1, let socket = try? listener.accept() else { continue }
                serve(socket)
            }
        }
    }

    /// Where a client connects.
    var configuration: BrokerConfiguration {
        BrokerConfiguration(
            uris: [SecretText("amqp://guest:guest@127.0.0.1:\(port)/")], allowsPlaintext: false,
            heartbeat: .seconds(60),
            tls: BrokerTLSConfiguration())
    }

    /// Ends all connections.
    func stop() { state.withLock { $0.isStopped = true } }

    private var isStopped: Bool { state.withLock(\.isStopped) }

    private func serve(_ socket: consuming Socket) {
        let shared = Mutex<Socket?>(consume socket)
        _ = try? LoopThread.start(name: "fake-client") { [self] in
            guard let socket = shared.withLock({ $0.take() }) else { return }
            let number = state.withLock { state in
                state.connections += 1
                return state.connections
            }
            var client = Client(broker: self, number: number)
            guard behaviour.greets(number) else {
                while !isStopped { poll(nil, 0, 50) }
                return
            }
            let all = Wire.welcome(channelMax: 2_047, heartbeat: behaviour.heartbeat)
            // Only the first frame asks for a login.
            let welcome = behaviour.refusesLogins ? Array(all[..<(8 + Client.number(all[3..<7]))]) : all
            guard (try? socket.write(welcome.span)) != nil else { return }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !isStopped {
                guard (try? socket.wait(for: .readable, timeout: .milliseconds(50))) == true else { continue }
                guard case .bytes(let count) = try? socket.read(into: &buffer), count > 0 else { return }
                let answer = client.received(buffer[..<count])
                guard Self.write(answer, to: socket), !client.isOver else { return }
            }
        }
    }

    /// Writes all of it.
    private static func write(_ bytes: [UInt8], to socket: borrowing Socket) -> Bool {
        var start = 0
        while start < bytes.count {
            guard (try? socket.wait(for: .writable, timeout: .seconds(10))) == true,
                let count = try? socket.write(bytes.span.extracting(start..<bytes.count))
            else { return false }
            start += count
        }
        return true
    }

    fileprivate func note(_ event: Event) { feed.yield(event) }
    fileprivate func newPublisher() -> Int { number(\.publishers, Event.publisher) }
    fileprivate func newConsumer() -> Int { number(\.consumers, Event.consumer) }
    fileprivate var plan: Behaviour { behaviour }

    private func number(_ count: WritableKeyPath<State, Int>, _ event: (Int) -> Event) -> Int {
        let number = state.withLock { state in
            state[keyPath: count] += 1
            return state[keyPath: count]
        }
        note(event(number))
        return number
    }
}

/// One connection of a client, as the broker sees it.
private struct Client {
    let broker: FakeBroker
    let number: Int
    /// Whether the connection ends.
    private(set) var isOver = false
    private var unread: [UInt8] = []
    private var sawProtocol = false
    private var publisher = 0
    private var consumer = 0
    /// Exchange, key and id of the message that is being published, its content, and how much of that is missing yet.
    private var exchange = ""
    private var key = ""
    private var id = ""
    private var content: [UInt8] = []
    private var missing = 0
    private var sequence = [UInt16: UInt64]()
    /// Channels that were closed: what comes on them before the client has seen it is passed over.
    private var closed: Set<UInt16> = []

    /// What each channel that consumes, or did, has to get and has got.
    private var feeds: [UInt16: Feed] = [:]

    /// The deliveries of a channel.
    private struct Feed {
        var prefetch = 0
        var isConsuming = false
        /// How many messages wait.
        var waiting = 0
        /// The tag of the last delivery.
        var last: UInt64 = 0
        /// Tags that are not settled; those of the present consumer count.
        var unsettled: Set<UInt64> = []
        /// The last tag of an earlier consumer.
        var earlier: UInt64 = 0
    }

    init(broker: FakeBroker, number: Int) {
        self.broker = broker
        self.number = number
    }

    /// Reads frames.
    ///
    /// - Returns: What to answer.
    mutating func received(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        unread += bytes
        if !sawProtocol, unread.count >= 8 {
            unread.removeFirst(8)
            sawProtocol = true
        }
        var answer: [UInt8] = []
        while sawProtocol, unread.count >= 8 {
            let size = Self.number(unread[3..<7])
            guard unread.count >= size + 8 else { break }
            let channel = UInt16(Self.number(unread[1..<3]))
            answer += frame(type: unread[0], channel, Array(unread[7..<(7 + size)]))
            unread.removeFirst(size + 8)
        }
        return answer
    }

    /// A number in network byte order.
    static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// A short string, and what follows it.
    private static func short(_ bytes: ArraySlice<UInt8>) -> (text: String, rest: ArraySlice<UInt8>) {
        let rest = bytes.dropFirst()
        let length = Int(bytes.first ?? 0)
        return (String(decoding: rest.prefix(length), as: UTF8.self), rest.dropFirst(length))
    }

    private mutating func frame(type: UInt8, _ channel: UInt16, _ payload: [UInt8]) -> [UInt8] {
        if closed.contains(channel) {
            if type == 1, payload.starts(with: [0, 20, 0, 41]) { closed.remove(channel) }
            return []
        }
        switch type {
        case 1: return method(Self.number(payload[0..<2]), Self.number(payload[2..<4]), channel, payload[4...])
        case 2:
            missing = Self.number(payload[4..<12])
            content = Wire.frame(2, channel, payload)
            let properties = try? MessagePropertyReader(payload, 12..<payload.count)
            id = properties?.messageID.map { String(decoding: payload[$0], as: UTF8.self) } ?? ""
            broker.note(.published(publisher: publisher, exchange: exchange, id: id))
            return missing == 0 ? confirm(channel) : []
        case 3:
            missing -= payload.count
            content += Wire.frame(3, channel, payload)
            return missing == 0 ? confirm(channel) : []
        default: return []
        }
    }

    private mutating func confirm(_ channel: UInt16) -> [UInt8] {
        if broker.plan.closesChannel(exchange, id) {
            broker.note(.closed(publisher: publisher))
            sequence[channel] = nil
            closed.insert(channel)
            return Wire.method(channel, 20, 40) {
                $0.u16(broker.plan.closing.code)
                $0.short(broker.plan.closing.text)
                $0.u16(60)
                $0.u16(40)
            }
        }
        sequence[channel, default: 0] += 1
        let number = sequence[channel] ?? 0
        let back = broker.plan.returns(exchange, number) ? returned(channel) : []
        let answer = broker.plan.answer(publisher)
        guard answer != .keepsSilent, exchange != broker.plan.silentExchange, number >= broker.plan.firstAnswered,
            !broker.plan.ignores(publisher, channel, number)
        else { return back }
        let isMultiple = number == broker.plan.firstAnswered
        return back
            + Wire.method(channel, 60, answer == .confirms ? 80 : 120) {
                $0.u64(number)
                $0.u8(isMultiple ? 1 : 0)
            }
    }

    private func returned(_ channel: UInt16) -> [UInt8] {
        Wire.method(channel, 60, 50) {
            $0.u16(312)
            $0.short("NO_ROUTE")
            $0.short(exchange)
            $0.short(key)
        } + content
    }

    private mutating func method(
        _ classID: Int, _ methodID: Int, _ channel: UInt16, _ arguments: ArraySlice<UInt8>
    ) -> [UInt8] {
        let request = FakeBroker.Request(
            connection: number, channel: channel, classID: classID, methodID: methodID)
        guard broker.plan.heeds(request) else { return [] }
        if broker.plan.hangsUp(request) { isOver = true }
        switch (classID, methodID) {
        case (10, 11) where broker.plan.refusesLogins:
            return Wire.method(0, 10, 50) {
                $0.u16(403)
                $0.short("ACCESS_REFUSED")
                $0.u16(0)
                $0.u16(0)
            }
        case (10, 50): return Wire.method(0, 10, 51)
        case (20, 10): return Wire.method(channel, 20, 11) { $0.long([]) }
        case (50, 10):
            // A queue that is empty, and has no consumers.
            return Wire.method(channel, 50, 11) {
                $0.short(Self.short(arguments.dropFirst(2)).text)
                $0.u32(0)
                $0.u32(0)
            }
        case (60, 10):
            feeds[channel, default: Feed()].prefetch = Self.number(arguments.dropFirst(4).prefix(2))
            return Wire.method(channel, 60, 11)
        case (60, 20):
            let (queue, rest) = Self.short(arguments.dropFirst(2))
            var feed = feeds[channel] ?? Feed()
            let isFirst =
                broker.plan.queue.map { $0 == queue && feed.last == 0 }
                ?? (consumer == 0 || broker.plan.deliversOnEveryChannel && feed.last == 0)
            if isFirst { feed.waiting = broker.plan.deliveries }
            feed.isConsuming = true
            feed.earlier = feed.last
            feeds[channel] = feed
            if consumer == 0 { consumer = broker.newConsumer() } else { broker.note(.consumer(consumer)) }
            return Wire.method(channel, 60, 21) { $0.short(Self.short(rest).text) } + deliveries(channel)
        case (60, 30):
            broker.note(.cancelled(consumer))
            feeds[channel]?.isConsuming = false
            let tag = Self.short(arguments).text
            return Wire.method(channel, 60, 31) { $0.short(tag) }
        case (60, 40):
            let rest: ArraySlice<UInt8>
            (exchange, rest) = Self.short(arguments.dropFirst(2))
            key = Self.short(rest).text
            return []
        case (60, 80):
            let tag = UInt64(Self.number(arguments.prefix(8)))
            broker.note(.acknowledged(consumer: consumer, tag: tag))
            settled(channel, tag, multiple: arguments.last == 1)
            return deliveries(channel)
        case (60, 120):
            let tag = UInt64(Self.number(arguments.prefix(8)))
            broker.note(.requeued(consumer: consumer, tag: tag))
            settled(channel, tag, multiple: false)
            feeds[channel]?.waiting += 1
            return deliveries(channel)
        case (85, 10):
            if publisher == 0 { publisher = broker.newPublisher() }
            return broker.plan.opensChannels(publisher) ? Wire.method(channel, 85, 11) : []
        default: return []
        }
    }

    private mutating func settled(_ channel: UInt16, _ tag: UInt64, multiple: Bool) {
        let before = feeds[channel]?.unsettled ?? []
        feeds[channel]?.unsettled = before.filter { multiple ? $0 > tag : $0 != tag }
    }

    /// As many jobs as the prefetch allows; by default such as nobody claims, whose results need no APNs.
    private mutating func deliveries(_ channel: UInt16) -> [UInt8] {
        guard var feed = feeds[channel], feed.isConsuming else { return [] }
        let held = feed.unsettled.count { $0 > feed.earlier }
        let room = broker.plan.heedsPrefetch(number) ? max(0, feed.prefetch - held) : feed.waiting
        let first = feed.last + 1
        let count = min(room, feed.waiting)
        feed.last += UInt64(count)
        feed.waiting -= count
        feed.unsettled.formUnion(first..<(first + UInt64(count)))
        feeds[channel] = feed
        let properties = Wire {
            $0.u16(1 << 15 | (broker.plan.replyTo == nil ? 0 : 1 << 9) | (broker.plan.jobID == nil ? 0 : 1 << 7))
            $0.short("application/json")
            if let address = broker.plan.replyTo { $0.short(address) }
            if let id = broker.plan.jobID { $0.short(id) }
        }.bytes
        var bytes: [UInt8] = []
        for tag in first..<(first + UInt64(count)) {
            let body = Array(#"{"device_token":"a1b2","payload":{"aps":{}}}"#.utf8)
            bytes += Wire.deliver(channel, tag: tag, exchange: "apns.jobs", key: broker.plan.key)
            bytes += Wire.header(channel, bodySize: UInt64(body.count), properties: properties)
            bytes += Wire.body(channel, body)
        }
        return bytes
    }
}
