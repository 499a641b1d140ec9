internal import CRabbitMQ
internal import EventLoop
internal import Glibc

extension AMQPConnection {
    // MARK: Set-up; the answers arrive at the delegate

    /// Asks for a channel.
    ///
    /// - Parameter channel: its number, 1 to `channelMax`; small numbers, because memory grows with the largest.
    /// - Throws: an error that ends the connection.
    package func openChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        precondition((1...max(1, channelMax)).contains(Int(channel)), "no such channel number")
        while channels.count <= Int(channel) { channels.append(Channel()) }
        let phase = channels[Int(channel)].phase
        precondition(phase == .unused || phase == .closed, "channel \(channel) is opened twice")
        channels[Int(channel)].phase = .opening
        var open = amqp_channel_open_t(out_of_band: amqp_empty_bytes)
        try send(Method.channelOpen, channel, &open)
    }

    /// Asks for a channel's end; nothing that is still under way on it is reported.
    ///
    /// - Parameter channel: its number.
    /// - Throws: an error that ends the connection.
    package func closeChannel(_ channel: UInt16) throws(AMQPError) {
        try checkUsable()
        guard Int(channel) < channels.count, [.opening, .open].contains(channels[Int(channel)].phase) else { return }
        channels[Int(channel)].phase = .closing
        channels[Int(channel)].content.abandon()
        var close = amqp_channel_close_t(reply_code: 200, reply_text: amqp_empty_bytes, class_id: 0, method_id: 0)
        try send(Method.channelClose, channel, &close)
    }

    /// Limits the unacknowledged deliveries of each consumer started on a channel from now on.
    ///
    /// - Parameters:
    ///   - channel: its number.
    ///   - count: deliveries.
    /// - Throws: an error that ends the connection.
    package func setPrefetch(_ channel: UInt16, count: UInt16) throws(AMQPError) {
        var qos = amqp_basic_qos_t(prefetch_size: 0, prefetch_count: count, global: 0)
        try send(Method.basicQos, channel, &qos)
    }

    /// Starts a consumer with acknowledgements.
    ///
    /// - Parameters:
    ///   - channel: its channel.
    ///   - queue: the queue, at most 255 bytes.
    ///   - consumerTag: its name on the channel, at most 255 bytes; empty lets the broker choose.
    ///   - exclusive: whether no one else may consume from the queue.
    /// - Throws: an error that ends the connection, or `invalidMessage`.
    package func startConsuming(
        _ channel: UInt16, queue: String, consumerTag: String, exclusive: Bool = false
    ) throws(AMQPError) {
        try withBytes(queue, consumerTag) { queue, tag throws(AMQPError) in
            var consume = amqp_basic_consume_t()
            consume.queue = queue
            consume.consumer_tag = tag
            consume.exclusive = exclusive ? 1 : 0
            try self.send(Method.basicConsume, channel, &consume)
        }
    }

    /// Ends a consumer.
    ///
    /// - Parameters:
    ///   - channel: its channel.
    ///   - consumerTag: its name.
    /// - Throws: an error that ends the connection, or `invalidMessage`.
    package func cancel(_ channel: UInt16, consumerTag: String) throws(AMQPError) {
        try withBytes(consumerTag, "") { tag, _ throws(AMQPError) in
            var cancel = amqp_basic_cancel_t(consumer_tag: tag, nowait: 0)
            try self.send(Method.basicCancel, channel, &cancel)
        }
    }

    /// Switches publisher confirms on.
    ///
    /// - Parameter channel: the channel.
    /// - Throws: an error that ends the connection.
    package func selectConfirms(_ channel: UInt16) throws(AMQPError) {
        var select = amqp_confirm_select_t(nowait: 0)
        try send(Method.confirmSelect, channel, &select)
    }

    // MARK: Settling deliveries

    /// Acknowledges a delivery, or all up to it; only on the channel generation that delivered it.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - deliveryTag: the delivery.
    ///   - multiple: whether all earlier ones are meant as well.
    /// - Returns: false if it would have to wait; nothing is sent then.
    /// - Throws: an error that ends the connection.
    package func acknowledge(channel: UInt16, deliveryTag: UInt64, multiple: Bool) throws(AMQPError) -> Bool {
        try settle { amqp_basic_ack(state, channel, deliveryTag, multiple ? 1 : 0) }
    }

    /// Rejects a delivery; without requeueing the broker dead-letters it.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - deliveryTag: the delivery.
    ///   - requeue: whether it goes back to its queue.
    /// - Returns: false if it would have to wait; nothing is sent then.
    /// - Throws: an error that ends the connection.
    package func reject(channel: UInt16, deliveryTag: UInt64, requeue: Bool) throws(AMQPError) -> Bool {
        try settle { amqp_basic_reject(state, channel, deliveryTag, requeue ? 1 : 0) }
    }

    /// Hands back a delivery, or all up to it.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - deliveryTag: the delivery.
    ///   - multiple: whether all earlier ones are meant as well.
    ///   - requeue: whether they go back to their queue.
    /// - Returns: false if it would have to wait; nothing is sent then.
    /// - Throws: an error that ends the connection.
    package func negativeAcknowledge(
        channel: UInt16, deliveryTag: UInt64, multiple: Bool, requeue: Bool
    ) throws(AMQPError) -> Bool {
        try settle { amqp_basic_nack(state, channel, deliveryTag, multiple ? 1 : 0, requeue ? 1 : 0) }
    }

    @inline(__always)
    private func settle(_ send: () -> Int32) throws(AMQPError) -> Bool {
        try checkUsable()
        // Frame header, method, tag, flags and end mark: 21 bytes, and a TLS record around them.
        guard hasRoom(for: 64) else { return false }
        let status = send()
        guard status == AMQP_STATUS_OK.rawValue else { throw lost(status, doing: "acknowledging a delivery") }
        didSend(21)
        return true
    }

    // MARK: Ends

    /// Ends the connection in an orderly way, waiting at most two seconds; what still arrives is dropped.
    package func close() {
        disown()
        defer { isDead = true }
        guard !isDead, !isSuspect(now: .now()) else { return }
        var close = amqp_connection_close_t()
        close.reply_code = 200
        guard (try? send(Method.connectionClose, 0, &close)) != nil else { return }
        let deadline = MonotonicTime.now().adding(.seconds(2))
        var frame = amqp_frame_t()
        while true {
            let status = crabbit_read_now(state, &frame)
            if status == AMQP_STATUS_TIMEOUT.rawValue {
                let now = MonotonicTime.now()
                guard now < deadline else { return }
                var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
                poll(&descriptor, 1, Int32(deadline.nanoseconds(since: now) / 1_000_000) + 1)
                continue
            }
            guard status == AMQP_STATUS_OK.rawValue, MonotonicTime.now() < deadline else { return }
            let isMethod = frame.channel == 0 && Int32(frame.frame_type) == AMQP_FRAME_METHOD
            if isMethod, crabbit_method_id(&frame) == Method.connectionCloseOk { return }
            amqp_maybe_release_buffers_on_channel(state, frame.channel)
        }
    }

    /// Confirms a channel's end to the broker.
    ///
    /// - Parameter channel: the channel.
    /// - Throws: an error that ends the connection.
    func answerChannelClose(_ channel: UInt16) throws(AMQPError) {
        var answer = amqp_channel_close_ok_t(dummy: 0)
        try send(Method.channelCloseOk, channel, &answer)
    }

    // MARK: Sending

    /// Sends a method that is not followed by content.
    ///
    /// - Parameters:
    ///   - method: its number.
    ///   - channel: its channel.
    ///   - arguments: its arguments, as the library's struct.
    /// - Throws: `wouldBlock` if the peer takes nothing any more, or another error that ends the connection.
    func send<Arguments>(
        _ method: UInt32, _ channel: UInt16, _ arguments: inout Arguments
    ) throws(AMQPError) {
        try checkUsable()
        guard hasRoom(for: 1024) else {
            isDead = true
            throw AMQPError(.wouldBlock, "the broker takes no more requests on this connection")
        }
        let status = withUnsafeMutableBytes(of: &arguments) {
            amqp_send_method(state, channel, method, $0.baseAddress)
        }
        guard status == AMQP_STATUS_OK.rawValue else { throw lost(status, doing: "sending a request") }
        didSend(1024)
    }

    /// Lends two short strings to the library.
    ///
    /// - Parameters:
    ///   - first: at most 255 bytes.
    ///   - second: at most 255 bytes.
    ///   - body: must not let the bytes escape.
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
