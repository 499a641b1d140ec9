internal import CRabbitMQ
internal import Glibc

extension AMQPConnection {
    /// Lets the kernel gather what is published until `endBurst` into full packets.
    ///
    /// The library makes three system calls per message and the kernel one packet; gathering a turn's messages was
    /// measured to save a fifth of the client's CPU. Costs nothing if nothing is published; if `endBurst` is
    /// forgotten, the kernel sends after 200 ms (tcp(7), TCP_CORK).
    package func beginBurst() { isBurst = true }

    /// Sends what was gathered since `beginBurst`.
    package func endBurst() {
        isBurst = false
        if isCorked { setCork(false) }
    }

    private func setCork(_ on: Bool) {
        isCorked = on
        var value: Int32 = on ? 1 : 0
        setsockopt(fileDescriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Publishes a message if that is possible without waiting.
    ///
    /// The library sends the method before it encodes the rest, so everything that could make it fail half way is
    /// checked first. A message above the size of the send buffer goes out only when that is empty, and may then wait
    /// for the peer; nothing a worker publishes is that large.
    ///
    /// - Parameters:
    ///   - message: the message; copied by the kernel or not sent at all when this returns.
    ///   - channel: an open channel.
    /// - Returns: false if it would have to wait, or the broker announced that it does not read; nothing is sent then.
    /// - Throws: `invalidMessage` if it cannot be written in AMQP, and the connection stays as it was; any other error
    ///   ends the connection.
    package func publish(_ message: borrowing OutgoingMessage, channel: UInt16) throws(AMQPError) -> Bool {
        try checkUsable()
        let properties = message.propertyBytes
        try checkLimits(message, propertyBytes: properties)
        // Three frames or more of eight bytes around their payload, and with TLS a record around each.
        let frames = 3 + message.body.count / max(1, frameMax - 8)
        let size = 16 + message.exchange.count + message.routingKey.count + 12 + properties + message.body.count
        let total = size + frames * (endpoint.useTLS ? 40 : 8)
        guard !isBlocked, hasRoom(for: total) else { return false }
        if isBurst, !isCorked { setCork(true) }
        let status = send(message, channel)
        guard status == AMQP_STATUS_OK.rawValue else { throw lost(status, doing: "publishing a message") }
        didSend(total)
        return true
    }

    private func checkLimits(_ message: borrowing OutgoingMessage, propertyBytes: Int) throws(AMQPError) {
        if let flaw = message.flaw {
            throw AMQPError(.invalidMessage, "\(flaw) is longer than 255 bytes")
        }
        guard propertyBytes + 20 <= frameMax else {
            throw AMQPError(
                .invalidMessage, "the properties take \(propertyBytes) bytes, over the limit of \(frameMax - 20)")
        }
        // Body frames are cut at the raised limit, which the broker would not accept.
        guard !acceptsLargeFrames || message.body.count <= frameMax - 8 else {
            throw AMQPError(.invalidMessage, "a connection that consumes publishes at most \(frameMax - 8) bytes")
        }
    }

    private func send(_ message: borrowing OutgoingMessage, _ channel: UInt16) -> Int32 {
        let count = message.headers.count
        if count > headerEntries.count {
            headerEntries.deallocate()
            headerEntries = .allocate(capacity: count * 2)
        }
        var nested = NestedValues()
        return message.bytes.withUnsafeBytes { buffer in
            let base = UnsafeMutableRawPointer(mutating: buffer.baseAddress)
            func bytes(_ range: Range<Int>) -> amqp_bytes_t {
                amqp_bytes_t(len: range.count, bytes: base.map { $0 + range.lowerBound })
            }
            for index in 0..<count {
                let header = message.headers[index]
                let entry = headerEntries.baseAddress.unsafelyUnwrapped + index
                entry.pointee.key = bytes(header.name)
                switch header.kind {
                case UInt8(ascii: "S"), UInt8(ascii: "x"):
                    let value = bytes(header.value)
                    crabbit_set_bytes(entry, header.kind, value.bytes, value.len)
                case UInt8(ascii: "F"), UInt8(ascii: "A"), UInt8(ascii: "D"):
                    entry.pointee.value = nested.encode(message.nested[Int(header.bits)])
                default: crabbit_set_integer(&entry.pointee.value, header.kind, header.bits)
                }
            }
            var properties = amqp_basic_properties_t()
            properties._flags = UInt32(message.flags) | UInt32(AMQP_BASIC_DELIVERY_MODE_FLAG)
            properties.delivery_mode = 2
            properties.headers = amqp_table_t(num_entries: Int32(count), entries: headerEntries.baseAddress)
            properties.timestamp = message.timestamp
            properties.priority = message.priority
            properties.content_type = bytes(message.text(of: .contentType))
            properties.content_encoding = bytes(message.text(of: .contentEncoding))
            properties.correlation_id = bytes(message.text(of: .correlationID))
            properties.reply_to = bytes(message.text(of: .replyTo))
            properties.expiration = bytes(message.text(of: .expiration))
            properties.message_id = bytes(message.text(of: .messageID))
            properties.type = bytes(message.text(of: .type))
            properties.user_id = bytes(message.text(of: .userID))
            properties.app_id = bytes(message.text(of: .appID))
            return amqp_basic_publish(
                state, channel, bytes(message.exchange), bytes(message.routingKey), message.isMandatory ? 1 : 0, 0,
                &properties, bytes(message.body))
        }
    }
}

/// Nested tables and arrays as the library's structs; freed when it goes away.
struct NestedValues: ~Copyable {
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit { for allocation in allocations { allocation.deallocate() } }

    /// Turns a value into the library's form.
    ///
    /// - Parameter value: any value.
    /// - Returns: a struct that refers to memory of this object.
    mutating func encode(_ value: FieldValue) -> amqp_field_value_t {
        var result = amqp_field_value_t()
        result.kind = value.kind
        switch value {
        case .text(let text), .bytes(let text): result.value.bytes = copy(text)
        case .decimal(let scale, let number):
            result.value.decimal = amqp_decimal_t(decimals: scale, value: number)
        case .table(let table): result.value.table = encode(table)
        case .array(let values):
            let elements = allocate(amqp_field_value_t.self, values.count)
            for (index, element) in values.enumerated() { elements[index] = encode(element) }
            result.value.array = amqp_array_t(num_entries: Int32(values.count), entries: elements)
        default: crabbit_set_integer(&result, value.kind, value.bits)
        }
        return result
    }

    /// Turns a table into the library's form.
    ///
    /// - Parameter table: any table.
    /// - Returns: a struct that refers to memory of this object.
    mutating func encode(_ table: FieldTable) -> amqp_table_t {
        let entries = allocate(amqp_table_entry_t.self, table.entries.count)
        for (index, entry) in table.entries.enumerated() {
            entries[index] = amqp_table_entry_t(key: copy(entry.name), value: encode(entry.value))
        }
        return amqp_table_t(num_entries: Int32(table.entries.count), entries: entries)
    }

    private mutating func copy(_ bytes: [UInt8]) -> amqp_bytes_t {
        let memory = allocate(UInt8.self, bytes.count)
        memory.update(from: bytes, count: bytes.count)
        return amqp_bytes_t(len: bytes.count, bytes: UnsafeMutableRawPointer(memory))
    }

    private mutating func allocate<Element>(_ type: Element.Type, _ count: Int) -> UnsafeMutablePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
        allocations.append(UnsafeMutableRawPointer(memory))
        return memory
    }
}
