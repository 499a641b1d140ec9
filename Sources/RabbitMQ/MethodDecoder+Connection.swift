import CRabbitMQ

extension MethodDecoder {
    /// The most a table of the broker's greeting may hold, in bytes, and how deep it may be nested.
    private static let greetingLimits = (size: 32 << 10, depth: 8)

    /// Reads a method of the connection; only those that a broker sends are decoded at all.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - arguments: The bytes behind the number.
    /// - Returns: What it means.
    /// - Throws: `protocolViolation` if it cannot be read, or is not for a client.
    mutating func connectionEvent(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer
    ) throws(AMQPError) -> AMQPSessionStateMachine.ConnectionEvent {
        switch method {
        case Method.connectionStart:
            // The greeting comes once in a connection, so the copy costs little.
            let version = try Self.checkGreeting(Array(arguments))
            let start = try decode(method, arguments).load(as: amqp_connection_start_t.self)
            return .start(
                major: start.version_major, minor: start.version_minor, mechanisms: String(start.mechanisms),
                version: version)
        case Method.connectionSecure: return .secure
        case Method.connectionTune:
            let tune = try decode(method, arguments).load(as: amqp_connection_tune_t.self)
            return .tune(
                AMQPLimits(
                    channelMax: Int(tune.channel_max), frameMax: Int(tune.frame_max), heartbeat: Int(tune.heartbeat)))
        case Method.connectionOpenOk: return .openOk
        case Method.connectionClose:
            let close = try decode(method, arguments).load(as: amqp_connection_close_t.self)
            return .close(code: close.reply_code, text: String(close.reply_text))
        case Method.connectionCloseOk: return .closeOk
        case Method.connectionBlocked:
            let blocked = try decode(method, arguments).load(as: amqp_connection_blocked_t.self)
            return .blocked(reason: String(blocked.reason))
        case Method.connectionUnblocked: return .unblocked
        default: throw AMQPError.brokerSent("an unexpected method \(method >> 16).\(method & 0xffff)")
        }
    }

    /// Reads the table of the broker's greeting with limits, before the library reads it without limits. The library
    /// goes one call deeper with each level of nesting: 15,000 levels were seen to overflow a stack of 512 KiB.
    ///
    /// - Returns: The broker's version; nil where the table has none.
    private static func checkGreeting(_ arguments: [UInt8]) throws(AMQPError) -> BrokerVersion? {
        do throws(AMQPError) {
            var cursor = try WireCursor(0..<arguments.count, in: arguments)
            _ = try cursor.take(2)
            var reader = FieldTableReader(
                try cursor.longString(arguments), maximumDepth: greetingLimits.depth, maximumSize: greetingLimits.size)
            var version: BrokerVersion?
            while let field = try reader.next(in: arguments) {
                guard case .text(let text) = field.value, arguments[field.name].elementsEqual("version".utf8) else {
                    continue
                }
                version = BrokerVersion(String(decoding: arguments[text], as: UTF8.self))
            }
            return version
        } catch {
            throw AMQPError.brokerSent("a greeting that cannot be read: \(error.message)")
        }
    }
}
