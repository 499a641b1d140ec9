import Buffers
import CRabbitMQ

extension AMQPSession {
    // MARK: Set-up; the answers arrive at the delegate

    /// Asks for a channel.
    ///
    /// - Parameter channel: Its number, from 1; small numbers, because memory grows with the largest.
    /// - Throws: `unsuitable` above `channelMax`, `channelClosed` where the channel is not closed, and the session stays
    ///   as it was; any other error ends it.
    package func openChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        guard Int(channel) <= channelMax else {
            throw AMQPError(
                .unsuitable,
                "the broker allows \(channelMax) channels on a connection, and number \(channel) is needed: raise "
                    + "channel_max")
        }
        // A broker that took too long to answer may still be about to.
        guard [.unused, .closed].contains(state.phase(of: channel)) else {
            throw AMQPError(.channelClosed, "channel \(channel) is in use or about to be opened or closed")
        }
        state.openChannel(channel)
        while contents.count <= Int(channel) {
            contents.append(ContentAssembly())
            questions.append(0)
        }
        var open = amqp_channel_open_t(out_of_band: amqp_empty_bytes)
        try send(Method.channelOpen, channel, &open)
    }

    /// Asks for a channel's end; nothing that is still under way on it is reported.
    ///
    /// - Parameter channel: Its number.
    /// - Throws: An error that ends the connection.
    package func closeChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        guard state.closeChannel(channel) else { return }
        contents[Int(channel)].abandon()
        var close = amqp_channel_close_t(reply_code: 200, reply_text: amqp_empty_bytes, class_id: 0, method_id: 0)
        try send(Method.channelClose, channel, &close)
    }

    /// Limits the unacknowledged deliveries of each consumer started on a channel from now on.
    ///
    /// - Parameters:
    ///   - channel: Its number.
    ///   - count: Deliveries.
    /// - Throws: An error that ends the connection.
    package func setPrefetch(_ channel: UInt16, count: UInt16) throws(AMQPError) {
        var qos = amqp_basic_qos_t(prefetch_size: 0, prefetch_count: count, global: 0)
        try send(Method.basicQos, channel, &qos)
    }

    /// Starts a consumer with acknowledgements.
    ///
    /// - Parameters:
    ///   - channel: Its channel.
    ///   - queue: The queue, at most 255 bytes.
    ///   - consumerTag: Its name on the channel, at most 255 bytes; empty lets the broker choose.
    ///   - exclusive: Whether no one else may consume from the queue.
    ///   - arguments: Its optional arguments, such as `x-priority`
    ///     (<https://www.rabbitmq.com/docs/consumer-priority>).
    /// - Throws: An error that ends the connection, or `invalidMessage`.
    package func startConsuming(
        _ channel: UInt16, queue: String, consumerTag: String, exclusive: Bool = false,
        arguments: FieldTable = FieldTable()
    ) throws(AMQPError) {
        try withBytes(queue, consumerTag) { queue, tag throws(AMQPError) in
            var memory = NestedValues()
            var consume = amqp_basic_consume_t()
            consume.arguments = memory.encode(arguments)
            consume.queue = queue
            consume.consumer_tag = tag
            consume.exclusive = exclusive ? 1 : 0
            try self.send(Method.basicConsume, channel, &consume)
        }
    }

    /// Ends a consumer.
    ///
    /// - Parameters:
    ///   - channel: Its channel.
    ///   - consumerTag: Its name.
    /// - Throws: An error that ends the connection, or `invalidMessage`.
    package func cancel(_ channel: UInt16, consumerTag: String) throws(AMQPError) {
        try withBytes(consumerTag, "") { tag, _ throws(AMQPError) in
            var cancel = amqp_basic_cancel_t(consumer_tag: tag, nowait: 0)
            try self.send(Method.basicCancel, channel, &cancel)
        }
    }

    /// Switches publisher confirms on.
    ///
    /// - Parameter channel: The channel.
    /// - Throws: An error that ends the connection.
    package func selectConfirms(_ channel: UInt16) throws(AMQPError) {
        var select = amqp_confirm_select_t(nowait: 0)
        try send(Method.confirmSelect, channel, &select)
    }

    // MARK: Settling deliveries

    /// Acknowledges a delivery, or all up to it; only on the channel generation that delivered it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - deliveryTag: The delivery.
    ///   - multiple: Whether all earlier ones are meant as well.
    /// - Returns: False if it would have to wait; nothing is sent then.
    /// - Throws: An error that ends the connection.
    package func acknowledge(channel: UInt16, deliveryTag: UInt64, multiple: Bool) throws(AMQPError) -> Bool {
        guard try maySettle() else { return false }
        var ack = amqp_basic_ack_t(delivery_tag: deliveryTag, multiple: multiple ? 1 : 0)
        try send(Method.basicAck, channel, &ack, size: Self.settlementSize)
        return true
    }

    /// Rejects a delivery; without requeueing the broker dead-letters it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - deliveryTag: The delivery.
    ///   - requeue: Whether it goes back to its queue.
    /// - Returns: False if it would have to wait; nothing is sent then.
    /// - Throws: An error that ends the connection.
    package func reject(channel: UInt16, deliveryTag: UInt64, requeue: Bool) throws(AMQPError) -> Bool {
        guard try maySettle() else { return false }
        var reject = amqp_basic_reject_t(delivery_tag: deliveryTag, requeue: requeue ? 1 : 0)
        try send(Method.basicReject, channel, &reject, size: Self.settlementSize)
        return true
    }

    /// Hands back a delivery, or all up to it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - deliveryTag: The delivery.
    ///   - multiple: Whether all earlier ones are meant as well.
    ///   - requeue: Whether they go back to their queue.
    /// - Returns: False if it would have to wait; nothing is sent then.
    /// - Throws: An error that ends the connection.
    package func negativeAcknowledge(
        channel: UInt16, deliveryTag: UInt64, multiple: Bool, requeue: Bool
    ) throws(AMQPError) -> Bool {
        guard try maySettle() else { return false }
        var nack = amqp_basic_nack_t(
            delivery_tag: deliveryTag, multiple: multiple ? 1 : 0, requeue: requeue ? 1 : 0)
        try send(Method.basicNack, channel, &nack, size: Self.settlementSize)
        return true
    }

    /// Room for the arguments of an acknowledgement and its relatives, in bytes: the method's number, a tag and flags.
    private static let settlementSize = 16

    @inline(__always)
    private func maySettle() throws(AMQPError) -> Bool {
        try checkUsable()
        return hasRoom(for: Self.settlementSize + Frame.overhead)
    }

    // MARK: Ends

    /// Asks for an orderly end: the broker first reads all that was sent before. Until it answers, what arrives is
    /// dropped; `isClosed` says when it has.
    package func close() {
        guard !isDead, state.close() else { return }
        var close = amqp_connection_close_t()
        close.reply_code = 200
        // A buffer without room for it ends the session as well.
        try? send(Method.connectionClose, 0, &close)
    }

    // MARK: Sending

    /// Sends a method that is not followed by content.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - channel: Its channel.
    ///   - arguments: Its arguments, as the library's struct.
    ///   - size: Room for them on the wire, in bytes; more than enough for names by default.
    /// - Throws: `wouldBlock` if the broker takes nothing any more, or another error that ends the connection.
    func send<Arguments>(
        _ method: UInt32, _ channel: UInt16, _ arguments: inout Arguments, size: Int = 1024
    ) throws(AMQPError) {
        try checkUsable()
        guard output.count <= Self.requestLimit else {
            throw end(AMQPError(.wouldBlock, "the broker takes no more requests on this connection"))
        }
        let start = output.reserve(4 + size + Frame.overhead)
        let payload = start + Frame.headSize
        payload.storeBytes(of: method.bigEndian, as: UInt32.self)
        let encoded = withUnsafeMutableBytes(of: &arguments) {
            amqp_encode_method(method, $0.baseAddress, amqp_bytes_t(len: size, bytes: payload + 4))
        }
        guard encoded >= 0 else { throw end(Self.codecError(encoded, doing: "writing a method")) }
        commitFrame(.method, channel: channel, size: 4 + Int(encoded), at: start)
    }

    /// Turns a status of the library into an error.
    ///
    /// - Parameters:
    ///   - status: A negative status.
    ///   - doing: What was being done.
    /// - Returns: The error.
    static func codecError(_ status: Int32, doing: String) -> AMQPError {
        AMQPError(.library, "\(doing): \(String(cString: amqp_error_string2(status)))")
    }

    /// Lends two short strings to the library.
    ///
    /// - Parameters:
    ///   - first: At most 255 bytes.
    ///   - second: At most 255 bytes.
    ///   - body: Must not let the bytes escape.
    /// - Throws: `invalidMessage` if one is too long, or what `body` throws.
    func withBytes(
        _ first: String, _ second: String, _ body: (amqp_bytes_t, amqp_bytes_t) throws(AMQPError) -> Void
    ) throws(AMQPError) {
        let both = Array(first.utf8) + Array(second.utf8)
        let split = first.utf8.count
        guard split <= 255, both.count - split <= 255 else {
            throw AMQPError(.invalidMessage, "a name is longer than 255 bytes")
        }
        let result: Result<Void, AMQPError> = both.withUnsafeBytes { bytes in
            let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            do throws(AMQPError) {
                try body(
                    amqp_bytes_t(len: split, bytes: start),
                    amqp_bytes_t(len: bytes.count - split, bytes: start.map { $0 + split }))
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}
