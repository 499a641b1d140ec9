import Buffers
import CRabbitMQ

/// Writes methods and messages as frames into one buffer, where they wait to be sent (AMQP 0-9-1, 2.3.5).
///
/// rabbitmq-c encodes arguments and properties in place. A message or an acknowledgement is written only where
/// `hasRoom`. After an error the last frame may be incomplete, and nothing more must be written.
struct FrameWriter: ~Copyable {
    /// How many bytes may wait to be sent before nothing more is published or acknowledged. Above this limit a slow
    /// broker holds back publishing. A larger buffer would not make writes cheaper.
    static let outputLimit = 256 << 10
    /// How many bytes may wait before requests and answers fail. This bounds the answers that a broker can make this
    /// side write.
    static let requestLimit = outputLimit + (64 << 10)
    /// Room for the arguments of a method without a table, in bytes: more than enough for three names.
    static let ordinarySize = 1024

    private var waiting = ByteQueue(ordinaryCapacity: 64 << 10)
    /// Header entries of the message being written, reused.
    private var headerEntries = UnsafeMutableBufferPointer<amqp_table_entry_t>.allocate(capacity: 32)

    /// A writer whose protocol header waits to be sent.
    init() {
        // "AMQP" and the version 0-9-1 (AMQP 0-9-1, 4.2.2).
        waiting.reserve(8).storeBytes(of: (0x414D_5150_0000_0901 as UInt64).bigEndian, as: UInt64.self)
        waiting.commit(8)
    }

    deinit { headerEntries.deallocate() }

    /// How many bytes wait to be sent.
    var count: Int { waiting.count }
    /// Whether no byte waits to be sent.
    var isEmpty: Bool { waiting.isEmpty }

    /// Whether so many bytes of a message or an acknowledgement may be written now: at most `outputLimit` bytes wait
    /// then. A larger message is written only while nothing else waits.
    ///
    /// - Parameter size: How many bytes.
    /// - Returns: Whether there is room.
    @inline(__always)
    func hasRoom(for size: Int) -> Bool { waiting.count + size <= Self.outputLimit || waiting.isEmpty }

    /// Lends all bytes that wait, and drops those that `body` has sent.
    ///
    /// - Parameter body: Returns how many bytes it has sent; they must not escape.
    /// - Throws: What `body` throws; nothing is dropped then.
    mutating func lend<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        try waiting.lend(body)
    }

    /// Writes a heartbeat.
    mutating func putHeartbeat() { putFrame(.heartbeat, channel: 0, size: 0) { _ in } }

    /// Writes a method that is not followed by content.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - channel: Its channel.
    ///   - arguments: Its arguments, as the library's struct for this method.
    ///   - size: Room for them on the wire, in bytes.
    /// - Throws: `wouldBlock` where more than `requestLimit` waits, or `library` if the arguments cannot be written;
    ///   nothing was added then.
    mutating func putMethod<Arguments>(
        _ method: UInt32, _ channel: UInt16, _ arguments: inout Arguments, size: Int = Self.ordinarySize
    ) throws(AMQPError) {
        guard waiting.count <= Self.requestLimit else {
            throw AMQPError(.wouldBlock, "the broker takes no more requests on this connection")
        }
        let start = waiting.reserve(4 + size + Frame.overhead)
        let payload = start + Frame.headSize
        payload.storeBytes(of: method.bigEndian, as: UInt32.self)
        let encoded = withUnsafeMutableBytes(of: &arguments) {
            amqp_encode_method(method, $0.baseAddress, amqp_bytes_t(len: size, bytes: payload + 4))
        }
        guard encoded >= 0 else { throw Self.failure(encoded, doing: "writing a method") }
        commitFrame(.method, channel: channel, size: 4 + Int(encoded), at: start)
    }

    /// Writes a message: basic.publish, its header and its body.
    ///
    /// - Parameters:
    ///   - message: The message; copied.
    ///   - layout: How it is laid out.
    ///   - channel: Its channel.
    /// - Throws: `library` if it cannot be written.
    mutating func putMessage(
        _ message: borrowing OutgoingMessage, _ layout: MessageLayout, channel: UInt16
    ) throws(AMQPError) {
        let status = message.bytes.withUnsafeBytes { buffer in
            let base = UnsafeMutableRawPointer(mutating: buffer.baseAddress)
            func bytes(_ range: Range<Int>) -> amqp_bytes_t {
                amqp_bytes_t(len: range.count, bytes: base.map { $0 + range.lowerBound })
            }
            var publish = amqp_basic_publish_t(
                ticket: 0, exchange: bytes(message.exchange), routing_key: bytes(message.routingKey),
                mandatory: message.isMandatory ? 1 : 0, immediate: 0)
            let methodSize = layout.methodSize
            var status: Int32 = 0
            putFrame(.method, channel: channel, size: methodSize) { payload in
                payload.storeBytes(of: Method.basicPublish.bigEndian, as: UInt32.self)
                status = amqp_encode_method(
                    Method.basicPublish, &publish, amqp_bytes_t(len: methodSize - 4, bytes: payload + 4))
            }
            guard status == Int32(methodSize - 4) else { return min(status, -1) }
            status = putHeader(message, base, channel, layout.propertySize)
            guard status == Int32(layout.propertySize) else { return min(status, -1) }
            putBody(message, base, channel, layout.fragmentSize)
            return 0
        }
        guard status == 0 else { throw Self.failure(status, doing: "writing a message") }
    }

    private mutating func putBody(
        _ message: borrowing OutgoingMessage, _ base: UnsafeMutableRawPointer?, _ channel: UInt16, _ fragmentSize: Int
    ) {
        guard let base else { return }
        var start = message.body.lowerBound
        while start < message.body.upperBound {
            let size = min(fragmentSize, message.body.upperBound - start)
            putFrame(.body, channel: channel, size: size) { $0.copyMemory(from: base + start, byteCount: size) }
            start += size
        }
    }

    /// Writes the content header; returns how many bytes the properties took, or the library's status.
    private mutating func putHeader(
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
        var nested = LibraryValues()
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
        putFrame(.header, channel: channel, size: MessageLayout.contentHeadSize + propertySize) { payload in
            // The weight behind the class is unused and 0.
            payload.storeBytes(of: (UInt32(Method.basicClass) << 16).bigEndian, as: UInt32.self)
            payload.storeBytes(of: UInt64(message.body.count).bigEndian, toByteOffset: 4, as: UInt64.self)
            status = amqp_encode_properties(
                UInt16(Method.basicClass), &properties,
                amqp_bytes_t(len: propertySize, bytes: payload + MessageLayout.contentHeadSize))
        }
        return status
    }

    /// Writes a frame. The closure writes the payload: exactly `size` bytes, to the address that it gets.
    @inline(__always)
    private mutating func putFrame(
        _ kind: Frame.Kind, channel: UInt16, size: Int, _ write: (UnsafeMutableRawPointer) -> Void
    ) {
        let start = waiting.reserve(size + Frame.overhead)
        write(start + Frame.headSize)
        commitFrame(kind, channel: channel, size: size, at: start)
    }

    /// Puts head and end mark around a payload that was written in place, and adds the frame.
    @inline(__always)
    private mutating func commitFrame(
        _ kind: Frame.Kind, channel: UInt16, size: Int, at start: UnsafeMutableRawPointer
    ) {
        start.storeBytes(of: kind.rawValue, as: UInt8.self)
        start.storeBytes(of: channel.bigEndian, toByteOffset: 1, as: UInt16.self)
        start.storeBytes(of: UInt32(size).bigEndian, toByteOffset: 3, as: UInt32.self)
        start.storeBytes(of: Frame.endMark, toByteOffset: Frame.headSize + size, as: UInt8.self)
        waiting.commit(size + Frame.overhead)
    }

    /// Turns a status of the library into an error.
    private static func failure(_ status: Int32, doing: String) -> AMQPError {
        AMQPError(.library, "\(doing): \(String(cString: amqp_error_string2(status)))")
    }
}
