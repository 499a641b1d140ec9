import EventLoop
import TestSupport

/// One client's connection: bytes in, bytes out.
package final class ModelConnection {
    enum Right { case configure, write, read }

    private enum Phase: Equatable {
        case greeting, login, tuning, opening, open, closing, closed
    }

    let number: Int
    private unowned let broker: ModelBroker
    private var phase = Phase.greeting
    private var unread: [UInt8] = []
    private var output: [UInt8] = []
    private(set) var channels: [UInt16: ModelChannel] = [:] {
        didSet { sortedChannels = channels.values.sorted { $0.number < $1.number } }
    }
    /// The channels in the order of their numbers.
    private(set) var sortedChannels: [ModelChannel] = []
    private var user = ""
    private var capabilities = WireTable()
    private var frameMax = 131_072
    /// After which silence of its own the broker sends a heartbeat, and after which of the client it gives up.
    private var heartbeat: (send: Duration, giveUp: Duration)?
    private var heardAt: MonotonicTime
    private var sentAt: MonotonicTime
    private var isPublisher = false
    /// The deliveries that the client has not settled, and their properties and bodies in bytes.
    private var held = (deliveries: 0, bytes: 0)
    private var isBlocked = false

    init(_ number: Int, broker: ModelBroker) {
        self.number = number
        self.broker = broker
        (heardAt, sentAt) = (broker.now, broker.now)
    }

    /// Whether the broker has ended the connection: its socket closes once the output is taken.
    package var isClosed: Bool { phase == .closed }
    /// Whether it wants to be told that a consumer was cancelled.
    var takesCancels: Bool { capabilities["consumer_cancel_notify"]?.number == 1 }

    // MARK: What the client holds

    func hold(_ message: ModelMessage) {
        held = (held.deliveries + 1, held.bytes + message.size)
        broker.mostHeld.deliveries = max(broker.mostHeld.deliveries, held.deliveries)
        broker.mostHeld.bytes = max(broker.mostHeld.bytes, held.bytes)
    }

    func letGo(_ message: ModelMessage) { held = (held.deliveries - 1, held.bytes - message.size) }

    // MARK: Bytes

    /// Takes bytes of the client.
    package func receive(_ bytes: [UInt8]) {
        guard phase != .closed else { return }
        heardAt = broker.now
        unread += bytes
        if phase == .greeting {
            guard unread.count >= 8 else { return }
            guard Array(unread[..<8]) == Array("AMQP".utf8) + [0, 0, 9, 1] else {
                output += Array("AMQP".utf8) + [0, 0, 9, 1]
                phase = .closed
                return
            }
            unread.removeFirst(8)
            phase = .login
            start()
        }
        readFrames()
        broker.settle()
    }

    /// What the client is to be sent.
    package func takeOutput() -> [UInt8] {
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    package var hasNews: Bool { !output.isEmpty || isClosed }

    /// The socket is gone.
    package func cut() {
        phase = .closed
        endChannels()
        broker.gone(self)
        broker.settle()
    }

    private func readFrames() {
        var position = 0
        while phase != .closed, unread.count - position >= 8 {
            let size = unread[(position + 3)..<(position + 7)].reduce(0) { $0 << 8 | Int($1) }
            guard size <= frameMax else { return end(ModelError(501, "FRAME_ERROR - \(size) bytes")) }
            guard unread.count - position >= size + 8 else { break }
            let (kind, channel) = (unread[position], UInt16(unread[position + 1]) << 8 | UInt16(unread[position + 2]))
            let payload = Array(unread[(position + 7)..<(position + 7 + size)])
            position += size + 8
            handle(kind, channel, payload)
        }
        unread.removeFirst(min(position, unread.count))
    }

    private func handle(_ kind: UInt8, _ channel: UInt16, _ payload: [UInt8]) {
        if kind == 8 || phase == .closing && channel != 0 { return }
        do {
            guard kind == 1 else {
                guard let open = channels[channel] else { throw ModelError(504, "CHANNEL_ERROR - no channel") }
                return try open.content(kind, payload)
            }
            let method: ClientMethod
            do { method = try ClientMethod(payload) } catch { throw ModelError(502, "SYNTAX_ERROR - \(error)") }
            if channel == 0 { try login(method) } else { try onChannel(channel, method) }
        } catch let error as ModelError {
            fail(error, channel)
        } catch {}
    }

    private func fail(_ error: ModelError, _ channel: UInt16) {
        if channel == 0 || error.isConnections || channels[channel] == nil { return end(error) }
        channels[channel]?.close(error)
    }

    private func onChannel(_ number: UInt16, _ method: ClientMethod) throws {
        guard phase == .open else { throw ModelError(503, "COMMAND_INVALID - before connection.open") }
        switch method {
        case .openChannel:
            guard channels[number] == nil else { throw ModelError(504, "CHANNEL_ERROR - second 'channel.open' seen") }
            channels[number] = ModelChannel(number, of: self, broker: broker)
            send(Wire.method(number, 20, 11) { $0.long([]) })
        case .closeChannel:
            channels.removeValue(forKey: number)?.end()
            send(Wire.method(number, 20, 41))
        case .closeChannelOK: channels[number] = nil
        default:
            guard let channel = channels[number] else {
                throw ModelError(504, "CHANNEL_ERROR - expected 'channel.open'")
            }
            try channel.method(method)
        }
    }

    // MARK: Login

    private func start() {
        let capabilities = [
            "publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify",
            "connection.blocked", "consumer_priorities", "authentication_failure_close", "per_consumer_qos",
        ].map { (name: $0, value: WireValue.scalar(kind: UInt8(ascii: "t"), bytes: [1])) }
        send(
            Wire.method(0, 10, 10) {
                $0.u8(0)
                $0.u8(9)
                $0.table(
                    WireTable([
                        ("capabilities", .table(WireTable(capabilities))), ("product", .text("RabbitMQ")),
                        ("version", .text(broker.version.rawValue)),
                    ]))
                $0.long(Array("AMQPLAIN PLAIN".utf8))
                $0.long(Array("en_US".utf8))
            })
    }

    private func login(_ method: ClientMethod) throws {
        switch (phase, method) {
        case (.login, .startOK(_, let response, let capabilities)):
            self.capabilities = capabilities
            let parts = response.split(separator: 0, omittingEmptySubsequences: false)
            user = parts.count == 3 ? String(decoding: parts[1], as: UTF8.self) : ""
            guard broker.users[user] != nil else {
                throw ModelError(
                    403,
                    "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. "
                        + "For details see the broker logfile.")
            }
            phase = .tuning
            send(
                Wire.method(0, 10, 30) {
                    $0.u16(broker.channelMax)
                    $0.u32(131_072)
                    $0.u16(60)
                })
        case (.tuning, .tuneOK(_, let frameMax, let heartbeat)):
            if frameMax > 0 { self.frameMax = Int(frameMax) }
            if heartbeat > 0 { self.heartbeat = (.seconds(Int64(heartbeat)) / 2, .seconds(Int64(heartbeat) * 2)) }
            phase = .opening
        case (.opening, .open):
            phase = .open
            send(Wire.method(0, 10, 41) { $0.short("") })
        case (.closing, .closeConnectionOK): close()
        case (_, .closeConnection):
            endChannels()
            send(Wire.method(0, 10, 51))
            close()
        case (.closing, _): break
        default: throw ModelError(503, "COMMAND_INVALID - unexpected method")
        }
    }

    // MARK: Rights

    func check(_ right: Right, _ name: String) throws(ModelError) {
        guard broker.users[user]?.allows(right, name) ?? false else {
            throw ModelError(
                403, "ACCESS_REFUSED - \(right) access to '\(name)' in vhost '/' refused for user '\(user)'")
        }
    }

    /// A topic permission concerns topic exchanges alone.
    func checkTopic(_ exchange: String, _ key: String) throws(ModelError) {
        guard broker.exchanges[exchange]?.kind == .topic, let mayWrite = broker.users[user]?.mayWriteTopic,
            !mayWrite(exchange, key)
        else { return }
        throw ModelError(
            403,
            "ACCESS_REFUSED - write access to topic '\(key)' in exchange '\(exchange)' in vhost '/' refused "
                + "for user '\(user)'")
    }

    // MARK: Out

    func send(_ bytes: [UInt8]) {
        guard phase != .closed else { return }
        sentAt = broker.now
        output += bytes
    }

    /// The header and the body of a message, behind its method.
    func content(_ channel: UInt16, _ properties: [UInt8], _ body: [UInt8]) {
        send(Wire.header(channel, bodySize: UInt64(body.count), properties: properties))
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(frameMax - 8)
            send(Wire.body(channel, Array(part)))
            rest = rest.dropFirst(part.count)
        }
    }

    /// The client has published something. Only such connections are blocked.
    func published() {
        isPublisher = true
        tellBlocked()
    }

    /// Tells a publishing client that an alarm has begun or ended.
    func tellBlocked() {
        guard isPublisher, phase == .open, isBlocked != (broker.alarm != nil) else { return }
        isBlocked = broker.alarm != nil
        guard capabilities["connection.blocked"]?.number == 1 else { return }
        send(Wire.method(0, 10, isBlocked ? 60 : 61) { if let alarm = self.broker.alarm { $0.short(alarm) } })
    }

    // MARK: Time and ends

    /// When time alone changes something, or earlier.
    var due: MonotonicTime {
        var due = MonotonicTime.distantFuture
        for channel in sortedChannels { due = min(due, channel.due) }
        guard phase == .open, let heartbeat else { return due }
        return min(due, sentAt + heartbeat.send, heardAt + heartbeat.giveUp)
    }

    func passTime() {
        for channel in sortedChannels where channel.due <= broker.now {
            do { try channel.passTime() } catch { fail(error, channel.number) }
        }
        guard phase == .open, let heartbeat else { return }
        if heardAt + heartbeat.giveUp <= broker.now { return cut() }
        if sentAt + heartbeat.send <= broker.now { send(Wire.frame(8, 0, [])) }
    }

    /// The broker ends the connection.
    package func end(code: UInt16, text: String) { end(ModelError(code, text)) }

    private func end(_ error: ModelError) {
        endChannels()
        send(
            Wire.method(0, 10, 50) {
                $0.u16(error.code)
                $0.short(String(error.text.prefix(255)))
                $0.u16(error.method.0)
                $0.u16(error.method.1)
            })
        phase = .closing
    }

    private func endChannels() {
        for channel in sortedChannels { channel.end() }
        channels.removeAll()
    }

    private func close() {
        phase = .closed
        broker.gone(self)
    }
}
