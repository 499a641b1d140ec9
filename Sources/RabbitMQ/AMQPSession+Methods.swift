import CRabbitMQ

extension AMQPSession {
    // MARK: Set-up; the answers arrive at the delegate

    /// Asks for a channel.
    ///
    /// - Parameter channel: Its number, from 1. Choose small numbers, because memory grows with the largest.
    /// - Throws: `unsuitable` above `channelMax`, or `channelClosed` for a channel that is in use; the session stays as
    ///   it was then. Any other error ends the session.
    package func openChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        guard Int(channel) <= channelMax else {
            throw AMQPError(
                .unsuitable,
                "the broker allows \(channelMax) channels on a connection, and number \(channel) is needed: raise "
                    + "channel_max")
        }
        // The broker may still answer an earlier request to open or close this channel.
        guard [.unused, .closed].contains(state.phase(of: channel)) else {
            throw AMQPError(.channelClosed, "channel \(channel) is in use or about to be opened or closed")
        }
        state.openChannel(channel)
        while channels.count <= Int(channel) { channels.append(ChannelReader()) }
        var open = amqp_channel_open_t(out_of_band: amqp_empty_bytes)
        try send(Method.channelOpen, channel, &open)
    }

    /// Asks for a channel's end. Nothing more is reported on the channel, except its end.
    ///
    /// - Parameter channel: Its number.
    /// - Throws: An error that ends the connection.
    package func closeChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        guard state.closeChannel(channel) else { return }
        channels[Int(channel)].forget()
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
        var values = LibraryValues()
        var consume = amqp_basic_consume_t()
        consume.queue = try values.name(queue)
        consume.consumer_tag = try values.name(consumerTag)
        consume.exclusive = exclusive ? 1 : 0
        consume.arguments = values.encode(arguments)
        try send(Method.basicConsume, channel, &consume)
    }

    /// Ends a consumer.
    ///
    /// - Parameters:
    ///   - channel: Its channel.
    ///   - consumerTag: Its name.
    /// - Throws: An error that ends the connection, or `invalidMessage`.
    package func cancel(_ channel: UInt16, consumerTag: String) throws(AMQPError) {
        var values = LibraryValues()
        var cancel = amqp_basic_cancel_t(consumer_tag: try values.name(consumerTag), nowait: 0)
        try send(Method.basicCancel, channel, &cancel)
    }

    /// Switches publisher confirms on.
    ///
    /// - Parameter channel: The channel.
    /// - Throws: An error that ends the connection.
    package func selectConfirms(_ channel: UInt16) throws(AMQPError) {
        var select = amqp_confirm_select_t(nowait: 0)
        try send(Method.confirmSelect, channel, &select)
    }

    /// Sends a request about queues and exchanges, one at a time per channel. `AMQPSessionDelegate.answered` follows,
    /// or the end of the channel.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - channel: An open channel.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func ask(_ request: AMQPRequest, on channel: UInt16) throws(AMQPError) {
        try checkUsable()
        do throws(AMQPError) {
            try request.put(into: &output, channel: channel)
        } catch {
            // A request with a name that is too long has written nothing.
            throw error.code == .invalidMessage ? error : end(error)
        }
        channels[Int(channel)].awaitAnswer(to: request)
    }

    // MARK: Publishing

    /// Publishes a message if there is room for it.
    ///
    /// - Parameters:
    ///   - message: The message; copied.
    ///   - channel: An open channel.
    /// - Returns: False while the output has no room, while the broker is suspect, and while it has announced that it
    ///   does not read. Nothing is sent then.
    /// - Throws: `invalidMessage` if it cannot be written in AMQP, and the session stays as it was; any other error
    ///   ends it.
    package func publish(_ message: borrowing OutgoingMessage, channel: UInt16) throws(AMQPError) -> Bool {
        try checkUsable()
        let layout = try MessageLayout(message, frameMax: frameMax)
        guard !isBlocked, hasRoom(for: layout.totalSize) else { return false }
        do throws(AMQPError) {
            try output.putMessage(message, layout, channel: channel)
        } catch {
            throw end(error)
        }
        return true
    }

    // MARK: Settling deliveries

    /// Acknowledges a delivery, or all up to it. The channel must still be the generation that delivered it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - deliveryTag: The delivery.
    ///   - multiple: Whether all earlier deliveries of the channel are meant as well.
    /// - Returns: False while the output has no room or the broker is suspect; nothing is sent then.
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
    /// - Returns: False while the output has no room or the broker is suspect; nothing is sent then.
    /// - Throws: An error that ends the connection.
    package func reject(channel: UInt16, deliveryTag: UInt64, requeue: Bool) throws(AMQPError) -> Bool {
        guard try maySettle() else { return false }
        var reject = amqp_basic_reject_t(delivery_tag: deliveryTag, requeue: requeue ? 1 : 0)
        try send(Method.basicReject, channel, &reject, size: Self.settlementSize)
        return true
    }

    /// Rejects a delivery, or all up to it; without requeueing the broker dead-letters them.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - deliveryTag: The delivery.
    ///   - multiple: Whether all earlier deliveries of the channel are meant as well.
    ///   - requeue: Whether they go back to their queue.
    /// - Returns: False while the output has no room or the broker is suspect; nothing is sent then.
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

    /// Room for an acknowledgement, a reject or a nack, in bytes: the method's number, a delivery tag and flags.
    private static let settlementSize = 16

    @inline(__always)
    private func maySettle() throws(AMQPError) -> Bool {
        try checkUsable()
        return hasRoom(for: Self.settlementSize + Frame.overhead)
    }

    // MARK: Ends

    /// Asks for an orderly end: the broker first reads all that was sent before. Until the broker answers, frames on
    /// channels are dropped. Before connection.open was sent, the session ends at once. `isClosed` is true after the
    /// end.
    package func close() {
        guard !isDead, state.close() else { return }
        var close = amqp_connection_close_t()
        close.reply_code = 200
        // If the output has no room for it, the error ends the session as well.
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
        _ method: UInt32, _ channel: UInt16, _ arguments: inout Arguments, size: Int = FrameWriter.ordinarySize
    ) throws(AMQPError) {
        try checkUsable()
        do throws(AMQPError) {
            try output.putMethod(method, channel, &arguments, size: size)
        } catch {
            throw end(error)
        }
    }
}
