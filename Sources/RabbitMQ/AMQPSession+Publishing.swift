import CRabbitMQ

extension AMQPSession {
    /// Publishes a message if there is room for it.
    ///
    /// - Parameters:
    ///   - message: The message; it was copied when this returns.
    ///   - channel: An open channel.
    /// - Returns: False if it would have to wait, or the broker announced that it does not read; nothing is sent then.
    /// - Throws: `invalidMessage` if it cannot be written in AMQP, and the session stays as it was; any other error
    ///   ends it.
    package func publish(_ message: borrowing OutgoingMessage, channel: UInt16) throws(AMQPError) -> Bool {
        try checkUsable()
        let properties = message.propertyBytes
        if let flaw = message.flaw {
            throw AMQPError(.invalidMessage, "\(flaw) is longer than 255 bytes")
        }
        guard properties + Self.contentHeadSize + Frame.overhead <= frameMax else {
            throw AMQPError(
                .invalidMessage,
                "the properties take \(properties) bytes, over the limit of "
                    + "\(frameMax - Self.contentHeadSize - Frame.overhead)")
        }
        let method = 4 + 2 + 1 + message.exchange.count + 1 + message.routingKey.count + 1
        let frames = 3 + message.body.count / (frameMax - Frame.overhead)
        let size = method + Self.contentHeadSize + properties + message.body.count + frames * Frame.overhead
        guard !isBlocked, hasRoom(for: size) else { return false }
        do throws(AMQPError) {
            try put(message, channel, methodSize: method, propertySize: properties)
        } catch {
            throw end(error)
        }
        return true
    }

    /// What precedes the properties in a content header, in bytes: class, weight and body size.
    private static let contentHeadSize = 12

    private func put(
        _ message: borrowing OutgoingMessage, _ channel: UInt16, methodSize: Int, propertySize: Int
    ) throws(AMQPError) {
        let status = message.bytes.withUnsafeBytes { buffer in
            let base = UnsafeMutableRawPointer(mutating: buffer.baseAddress)
            func bytes(_ range: Range<Int>) -> amqp_bytes_t {
                amqp_bytes_t(len: range.count, bytes: base.map { $0 + range.lowerBound })
            }
            var publish = amqp_basic_publish_t(
                ticket: 0, exchange: bytes(message.exchange), routing_key: bytes(message.routingKey),
                mandatory: message.isMandatory ? 1 : 0, immediate: 0)
            var status: Int32 = 0
            putFrame(.method, channel: channel, size: methodSize) { payload in
                payload.storeBytes(of: Method.basicPublish.bigEndian, as: UInt32.self)
                status = amqp_encode_method(
                    Method.basicPublish, &publish, amqp_bytes_t(len: methodSize - 4, bytes: payload + 4))
            }
            guard status == Int32(methodSize - 4) else { return min(status, -1) }
            status = putHeader(message, base, channel, propertySize)
            guard status == Int32(propertySize) else { return min(status, -1) }
            putBody(message, base, channel)
            return 0
        }
        guard status == 0 else { throw Self.codecError(status, doing: "writing a message") }
    }

    private func putBody(_ message: borrowing OutgoingMessage, _ base: UnsafeMutableRawPointer?, _ channel: UInt16) {
        guard let base else { return }
        var start = message.body.lowerBound
        while start < message.body.upperBound {
            let size = min(frameMax - Frame.overhead, message.body.upperBound - start)
            putFrame(.body, channel: channel, size: size) { $0.copyMemory(from: base + start, byteCount: size) }
            start += size
        }
    }

    /// Writes the content header; returns how many bytes the properties took, or the library's status.
    private func putHeader(
        _ message: borrowing OutgoingMessage, _ base: UnsafeMutableRawPointer?, _ channel: UInt16, _ propertySize: Int
    ) -> Int32 {
        func bytes(_ range: Range<Int>) -> amqp_bytes_t {
            amqp_bytes_t(len: range.count, bytes: base.map { $0 + range.lowerBound })
        }
        let count = message.headers.count
        if count > headerEntries.count {
            headerEntries.deallocate()
            headerEntries = .allocate(capacity: count * 2)
        }
        var nested = NestedValues()
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
        var status: Int32 = 0
        putFrame(.header, channel: channel, size: Self.contentHeadSize + propertySize) { payload in
            // The weight behind the class is unused and 0.
            payload.storeBytes(of: (UInt32(Method.basicClass) << 16).bigEndian, as: UInt32.self)
            payload.storeBytes(of: UInt64(message.body.count).bigEndian, toByteOffset: 4, as: UInt64.self)
            status = amqp_encode_properties(
                UInt16(Method.basicClass), &properties,
                amqp_bytes_t(len: propertySize, bytes: payload + Self.contentHeadSize))
        }
        return status
    }
}
