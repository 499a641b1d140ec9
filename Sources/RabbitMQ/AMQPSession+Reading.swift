import CRabbitMQ
import EventLoop

extension AMQPSession {
    /// Takes one frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - delegate: What to report to.
    /// - Throws: Any `AMQPError`; the session must be dropped then.
    func handle(_ frame: Frame, _ delegate: any AMQPSessionDelegate) throws(AMQPError) {
        switch frame.kind {
        case .heartbeat: return
        case .method:
            guard frame.payload.count >= 4 else { throw AMQPError.brokerSent("a method frame without a method") }
            let method = UInt32(bigEndian: frame.payload.loadUnaligned(as: UInt32.self))
            let arguments = UnsafeRawBufferPointer(rebasing: frame.payload[4...])
            if frame.channel == 0 { return try handleConnection(method, arguments, delegate) }
            try handleChannel(frame.channel, method, arguments, delegate)
        case .header, .body:
            guard frame.channel != 0 else { throw AMQPError.brokerSent("content on channel 0") }
            guard try state.received(.other, on: frame.channel) == .take else { return }
            try handleContent(frame, delegate)
        }
    }

    // MARK: Channels

    private func handleContent(_ frame: Frame, _ delegate: any AMQPSessionDelegate) throws(AMQPError) {
        let channel = Int(frame.channel)
        guard let message = try channels[channel].message(frame, bodyLimit: bodyLimit) else { return }
        guard case .returned(let code) = channels[channel].kind else { return delegate.delivered(message) }
        // This client wrote the message that came back. Properties that cannot be read are the broker's error.
        let properties = try MessagePropertyReader(message.bytes, message.properties)
        let bytes = message.bytes.span
        delegate.returned(
            channel: frame.channel, code: code, messageID: bytes.extracting(properties.messageID ?? 0..<0),
            exchange: bytes.extracting(message.exchange), routingKey: bytes.extracting(message.routingKey))
    }

    private func handleChannel(
        _ channel: UInt16, _ method: UInt32, _ arguments: UnsafeRawBufferPointer, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        let event: AMQPSessionStateMachine.ChannelEvent =
            switch method {
            case Method.channelOpenOk: .openOk
            case Method.channelClose: .close
            case Method.channelCloseOk: .closeOk
            default: .other
            }
        switch try state.received(event, on: channel) {
        case .ignore: return
        case .opened: delegate.channelOpened(channel)
        case .closed:
            channels[Int(channel)].forget()
            delegate.channelClosed(channel, code: 200, text: "closed as asked for")
        case .confirmClose:
            let close = try decoder.decode(method, arguments).load(as: amqp_channel_close_t.self)
            let text = String(close.reply_text)
            channels[Int(channel)].forget()
            var closeOk = amqp_channel_close_ok_t(dummy: 0)
            try send(Method.channelCloseOk, channel, &closeOk)
            delegate.channelClosed(channel, code: close.reply_code, text: text)
        case .confirmAgain:
            var closeOk = amqp_channel_close_ok_t(dummy: 0)
            try send(Method.channelCloseOk, channel, &closeOk)
        case .take:
            // Report after the reader has returned: the delegate may open a channel, and that changes `channels`.
            let meaning = try channels[Int(channel)].event(method, arguments, decoder: &decoder)
            try report(meaning, channel, delegate)
        }
    }

    private func report(
        _ event: ChannelReader.Event, _ channel: UInt16, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        switch event {
        case .messageBegan: return
        case .confirmed(let tag, let multiple, let positive):
            delegate.confirmed(channel: channel, tag: tag, multiple: multiple, positive: positive)
        case .qosSet: delegate.qosSet(channel)
        case .confirmsSelected: delegate.confirmsSelected(channel)
        case .consumeStarted(let tag): delegate.consumeStarted(channel, consumerTag: tag)
        case .consumeCancelled(let tag, let byBroker):
            delegate.consumeCancelled(channel, consumerTag: tag, byBroker: byBroker)
        case .flow(let isActive):
            // RabbitMQ never sends channel.flow. If it comes nevertheless, agreeing is better than an error.
            var flowOk = amqp_channel_flow_ok_t(active: isActive ? 1 : 0)
            try send(Method.channelFlowOk, channel, &flowOk)
        case .answered(let answer): delegate.answered(channel, answer)
        }
    }

    // MARK: The connection

    private func handleConnection(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        let event = try decoder.connectionEvent(method, arguments)
        let phase = state.phase
        switch try state.received(event) {
        case .ignore: return
        case .logIn: try login.putStartOk(into: &output)
        case .open(let limits):
            frames.accept(frameMax: limits.frameMax)
            try login.putOpen(limits, into: &output)
        case .report:
            if case .blocked(let reason) = event { delegate.connectionBlocked(reason: reason) }
            if case .unblocked = event { delegate.connectionUnblocked() }
        case .confirmClose(let code, let text):
            var closeOk = amqp_connection_close_ok_t(dummy: 0)
            // The broker ends the connection in any case, so a failure to answer does not matter.
            try? send(Method.connectionCloseOk, 0, &closeOk)
            if phase == .open { delegate.connectionClosed(code: code, text: text) }
            let what = phase == .open ? "the broker closed the connection" : "the broker refused \(loginText)"
            let hint = phase != .open && code == 403 ? login.passwordHint : ""
            throw AMQPError(
                code == 403 || code == 530 ? .refused : .connectionClosed, "\(what): \(text)\(hint)", replyCode: code)
        }
    }
}
