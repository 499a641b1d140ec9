/// A method that a client sends (AMQP 0-9-1, and RabbitMQ's extensions).
enum ClientMethod {
    case startOK(mechanism: String, response: [UInt8], capabilities: WireTable)
    case tuneOK(channelMax: UInt16, frameMax: UInt32, heartbeat: UInt16)
    case open(virtualHost: String)
    case closeConnection, closeConnectionOK
    case openChannel, closeChannel, closeChannelOK
    case flowOK
    case declareExchange(name: String, type: String, isPassive: Bool, arguments: WireTable)
    case deleteExchange(name: String)
    case bindExchange(destination: String, source: String, key: String)
    case declareQueue(name: String, isPassive: Bool, isExclusive: Bool, arguments: WireTable)
    case bindQueue(name: String, exchange: String, key: String)
    case unbindQueue(name: String, exchange: String, key: String)
    case purgeQueue(name: String)
    case deleteQueue(name: String)
    case qos(prefetch: UInt16)
    case consume(queue: String, tag: String, arguments: WireTable)
    case cancel(tag: String)
    case cancelOK
    case publish(exchange: String, key: String, isMandatory: Bool)
    case get(queue: String)
    case acknowledge(tag: UInt64, multiple: Bool)
    case reject(tag: UInt64, requeue: Bool)
    case negativeAcknowledge(tag: UInt64, multiple: Bool, requeue: Bool)
    case selectConfirms

    /// Reads a method and its arguments.
    ///
    /// - Throws: `WireError` for bytes that are no method, and for a method that the model does not know.
    init(_ payload: [UInt8]) throws(WireError) {
        var reader = WireReader(payload)
        let (group, number) = (try reader.u16(), try reader.u16())
        switch group {
        case 10: self = try Self.connection(number, &reader)
        case 20: self = try Self.channel(number)
        case 40: self = try Self.exchange(number, &reader)
        case 50: self = try Self.queue(number, &reader)
        case 60: self = try Self.basic(number, &reader)
        case 85 where number == 10: self = .selectConfirms
        default: throw Self.unknown(group, number)
        }
    }

    private static func unknown(_ group: UInt16, _ number: UInt16) -> WireError {
        WireError(description: "the model does not know the method \(group).\(number)")
    }

    private static func connection(_ number: UInt16, _ reader: inout WireReader) throws(WireError) -> ClientMethod {
        switch number {
        case 11:
            let properties = try reader.table()
            var capabilities = WireTable()
            if case .table(let table)? = properties["capabilities"] { capabilities = table }
            return .startOK(
                mechanism: try reader.short(), response: try reader.long(), capabilities: capabilities)
        case 31:
            return .tuneOK(
                channelMax: try reader.u16(), frameMax: try reader.number(), heartbeat: try reader.u16())
        case 40: return .open(virtualHost: try reader.short())
        case 50: return .closeConnection
        case 51: return .closeConnectionOK
        default: throw unknown(10, number)
        }
    }

    private static func channel(_ number: UInt16) throws(WireError) -> ClientMethod {
        switch number {
        case 10: return .openChannel
        case 21: return .flowOK
        case 40: return .closeChannel
        case 41: return .closeChannelOK
        default: throw unknown(20, number)
        }
    }

    private static func exchange(_ number: UInt16, _ reader: inout WireReader) throws(WireError) -> ClientMethod {
        _ = try reader.u16()
        switch number {
        case 10:
            let (name, type, flags) = (try reader.short(), try reader.short(), try reader.flags())
            return .declareExchange(name: name, type: type, isPassive: flags & 1 != 0, arguments: try reader.table())
        case 20: return .deleteExchange(name: try reader.short())
        case 30:
            return .bindExchange(
                destination: try reader.short(), source: try reader.short(), key: try reader.short())
        default: throw unknown(40, number)
        }
    }

    private static func queue(_ number: UInt16, _ reader: inout WireReader) throws(WireError) -> ClientMethod {
        _ = try reader.u16()
        let name = try reader.short()
        switch number {
        case 10:
            let flags = try reader.flags()
            return .declareQueue(
                name: name, isPassive: flags & 1 != 0, isExclusive: flags & 4 != 0, arguments: try reader.table())
        case 20: return .bindQueue(name: name, exchange: try reader.short(), key: try reader.short())
        case 30: return .purgeQueue(name: name)
        case 40: return .deleteQueue(name: name)
        case 50: return .unbindQueue(name: name, exchange: try reader.short(), key: try reader.short())
        default: throw unknown(50, number)
        }
    }

    private static func basic(_ number: UInt16, _ reader: inout WireReader) throws(WireError) -> ClientMethod {
        switch number {
        case 10:
            _ = try reader.raw(4)
            return .qos(prefetch: try reader.u16())
        case 20:
            _ = try reader.u16()
            let (queue, tag, _) = (try reader.short(), try reader.short(), try reader.flags())
            return .consume(queue: queue, tag: tag, arguments: try reader.table())
        case 30: return .cancel(tag: try reader.short())
        case 31: return .cancelOK
        case 40:
            _ = try reader.u16()
            return .publish(
                exchange: try reader.short(), key: try reader.short(), isMandatory: try reader.flags() & 1 != 0)
        case 70:
            _ = try reader.u16()
            return .get(queue: try reader.short())
        case 80: return .acknowledge(tag: try reader.u64(), multiple: try reader.flags() & 1 != 0)
        case 90: return .reject(tag: try reader.u64(), requeue: try reader.flags() & 1 != 0)
        case 120:
            let (tag, flags) = (try reader.u64(), try reader.flags())
            return .negativeAcknowledge(tag: tag, multiple: flags & 1 != 0, requeue: flags & 2 != 0)
        default: throw unknown(60, number)
        }
    }
}
