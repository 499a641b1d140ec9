internal import CRabbitMQ
package import EventLoop

extension AMQPConnection {
    /// Reads what has arrived, without waiting, and reports it; also sends a heartbeat when one is due.
    ///
    /// - Parameters:
    ///   - limit: how many frames to read at most; a delivery is three or more.
    ///   - delegate: what to report to.
    ///   - now: the time.
    /// - Returns: true if it stopped at the limit; call again then, the socket may not become readable for the rest.
    /// - Throws: anything; the connection must be dropped then.
    package func read(
        frames limit: Int, delegate: any AMQPConnectionDelegate, now: MonotonicTime
    ) throws(AMQPError) -> Bool {
        try checkUsable()
        var frame = amqp_frame_t()
        var count = 0
        while count < limit {
            // Without TLS, an empty library buffer means that only the kernel may have more, and epoll will tell.
            if count > 0, !endpoint.useTLS, !hasBufferedInput { break }
            let status = crabbit_read_now(state, &frame)
            if status == AMQP_STATUS_TIMEOUT.rawValue { break }
            guard status == AMQP_STATUS_OK.rawValue else { throw lost(status, doing: "reading from the broker") }
            count += 1
            do throws(AMQPError) {
                try handle(&frame, delegate)
            } catch {
                isDead = true
                throw error
            }
            // All that is needed was copied, so nothing in the library's memory is referred to any more.
            amqp_maybe_release_buffers_on_channel(state, frame.channel)
        }
        // The library passes over frames of unknown types in silence and keeps their memory, on whatever channel.
        amqp_maybe_release_buffers(state)
        if count > 0 { lastHeard = max(lastHeard, now) }
        return count == limit
    }

    private func handle(_ frame: inout amqp_frame_t, _ delegate: any AMQPConnectionDelegate) throws(AMQPError) {
        let number = Int(frame.channel)
        let type = Int32(frame.frame_type)
        if number == 0 {
            guard type == AMQP_FRAME_METHOD else { throw violation("a frame of type \(type) on channel 0") }
            return try handleConnectionMethod(&frame, delegate)
        }
        guard number < channels.count, channels[number].phase != .unused else {
            throw violation("a frame on channel \(number), which was never opened")
        }
        if type == AMQP_FRAME_METHOD { return try handleMethod(&frame, delegate) }
        // After a close in either direction what is still under way is dropped.
        guard channels[number].phase == .open else { return }
        let isComplete: Bool
        switch type {
        case AMQP_FRAME_HEADER:
            let properties = UnsafeRawBufferPointer(crabbit_raw_properties(&frame))
            isComplete = try channels[number].content.header(
                properties: properties, bodySize: crabbit_body_size(&frame), limit: bodyLimit)
        case AMQP_FRAME_BODY:
            let fragment = UnsafeRawBufferPointer(crabbit_body_fragment(&frame))
            isComplete = try channels[number].content.body(fragment)
        default: throw violation("a frame of unknown type \(type)")
        }
        if isComplete { try finish(frame.channel, delegate) }
    }

    private func finish(_ channel: UInt16, _ delegate: any AMQPConnectionDelegate) throws(AMQPError) {
        let kind = channels[Int(channel)].content.kind
        let message = channels[Int(channel)].content.take(channel: channel)
        guard case .returned(let code) = kind else { return delegate.delivered(message) }
        let properties = try MessagePropertyReader(message.bytes, message.properties)
        let bytes = message.bytes.span
        delegate.returned(
            channel: channel, code: code, messageID: bytes.extracting(properties.messageID ?? 0..<0),
            exchange: bytes.extracting(message.exchange), routingKey: bytes.extracting(message.routingKey))
    }

    private func handleMethod(_ frame: inout amqp_frame_t, _ delegate: any AMQPConnectionDelegate) throws(AMQPError) {
        let channel = frame.channel
        let id = crabbit_method_id(&frame)
        guard let decoded = crabbit_method_decoded(&frame) else { throw violation("a method without arguments") }
        switch id {
        case Method.channelClose:
            let close = decoded.load(as: amqp_channel_close_t.self)
            let text = String(decoding: UnsafeRawBufferPointer(close.reply_text), as: UTF8.self)
            try answerChannelClose(channel)
            setClosed(channel)
            delegate.channelClosed(channel, code: close.reply_code, text: text)
        case Method.channelCloseOk:
            guard channels[Int(channel)].phase == .closing else { return }
            setClosed(channel)
            delegate.channelClosed(channel, code: 200, text: "closed as asked for")
        default:
            let phase = channels[Int(channel)].phase
            if phase == .closing || phase == .closed { return }
            if phase == .opening {
                guard id == Method.channelOpenOk else { throw violation("method \(id) before open-ok") }
                channels[Int(channel)].phase = .open
                return delegate.channelOpened(channel)
            }
            try handleBasic(id, channel, decoded, delegate)
        }
    }

    private func handleBasic(
        _ id: UInt32, _ channel: UInt16, _ decoded: UnsafeMutableRawPointer, _ delegate: any AMQPConnectionDelegate
    ) throws(AMQPError) {
        switch id {
        case Method.basicDeliver:
            let deliver = decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self)
            try channels[Int(channel)].content.begin(
                .delivery(tag: deliver.pointee.delivery_tag, redelivered: deliver.pointee.redelivered != 0),
                exchange: UnsafeRawBufferPointer(deliver.pointee.exchange),
                routingKey: UnsafeRawBufferPointer(deliver.pointee.routing_key))
        case Method.basicAck:
            let ack = decoded.load(as: amqp_basic_ack_t.self)
            delegate.confirmed(channel: channel, tag: ack.delivery_tag, multiple: ack.multiple != 0, positive: true)
        case Method.basicNack:
            let nack = decoded.load(as: amqp_basic_nack_t.self)
            delegate.confirmed(channel: channel, tag: nack.delivery_tag, multiple: nack.multiple != 0, positive: false)
        case Method.basicReturn:
            let returned = decoded.load(as: amqp_basic_return_t.self)
            try channels[Int(channel)].content.begin(
                .returned(code: returned.reply_code), exchange: UnsafeRawBufferPointer(returned.exchange),
                routingKey: UnsafeRawBufferPointer(returned.routing_key))
        case Method.basicGetOk:
            let got = decoded.load(as: amqp_basic_get_ok_t.self)
            _ = otherMethods?(channel, id, decoded)
            try channels[Int(channel)].content.begin(
                .delivery(tag: got.delivery_tag, redelivered: got.redelivered != 0),
                exchange: UnsafeRawBufferPointer(got.exchange), routingKey: UnsafeRawBufferPointer(got.routing_key))
        case Method.basicQosOk: delegate.qosSet(channel)
        case Method.confirmSelectOk: delegate.confirmsSelected(channel)
        case Method.basicConsumeOk:
            let tag = decoded.load(as: amqp_basic_consume_ok_t.self).consumer_tag
            delegate.consumeStarted(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)))
        case Method.basicCancelOk:
            let tag = decoded.load(as: amqp_basic_cancel_ok_t.self).consumer_tag
            delegate.consumeCancelled(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)), byBroker: false)
        case Method.basicCancel:
            let tag = decoded.load(as: amqp_basic_cancel_t.self).consumer_tag
            delegate.consumeCancelled(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)), byBroker: true)
        case Method.channelFlow:
            // RabbitMQ never sends it; refusing to know it would still be worse than agreeing.
            var answer = amqp_channel_flow_ok_t(active: decoded.load(as: amqp_channel_flow_t.self).active)
            try send(Method.channelFlowOk, channel, &answer)
        default:
            guard otherMethods?(channel, id, decoded) == true else { throw violation("an unexpected method \(id)") }
        }
    }

    private func handleConnectionMethod(
        _ frame: inout amqp_frame_t, _ delegate: any AMQPConnectionDelegate
    ) throws(AMQPError) {
        let id = crabbit_method_id(&frame)
        guard let decoded = crabbit_method_decoded(&frame) else { throw violation("a method without arguments") }
        switch id {
        case Method.connectionClose:
            let close = decoded.load(as: amqp_connection_close_t.self)
            let text = String(decoding: UnsafeRawBufferPointer(close.reply_text), as: UTF8.self)
            var answer = amqp_connection_close_ok_t(dummy: 0)
            // The broker is leaving either way, so a failure to answer is of no interest.
            try? send(Method.connectionCloseOk, 0, &answer)
            isDead = true
            delegate.connectionClosed(code: close.reply_code, text: text)
            throw AMQPError(
                close.reply_code == 403 || close.reply_code == 530 ? .refused : .connectionClosed,
                "the broker closed the connection: \(text)", replyCode: close.reply_code)
        case Method.connectionBlocked:
            let reason = decoded.load(as: amqp_connection_blocked_t.self).reason
            isBlocked = true
            // A long alarm is not a dead peer: without this the kernel would end the connection in the middle of it.
            SocketOptions.setUserTimeout(fileDescriptor, milliseconds: 0)
            delegate.connectionBlocked(reason: String(decoding: UnsafeRawBufferPointer(reason), as: UTF8.self))
        case Method.connectionUnblocked:
            isBlocked = false
            restoreUserTimeout()
            delegate.connectionUnblocked()
        default:
            guard otherMethods?(0, id, decoded) == true else { throw violation("an unexpected method \(id)") }
        }
    }

    private func setClosed(_ channel: UInt16) {
        channels[Int(channel)].phase = .closed
        channels[Int(channel)].content.abandon()
    }

    private func violation(_ what: String) -> AMQPError {
        AMQPError(.protocolViolation, "the broker sent \(what)")
    }
}
