import CRabbitMQ
import EventLoop

extension AMQPSession {
    /// The most a table of the broker's greeting may hold, in bytes, and how deep it may be nested.
    private static let greetingLimits = (size: 32 << 10, depth: 8)

    /// Takes one frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - delegate: What to report to.
    /// - Throws: Anything; the session must be dropped then.
    func handle(_ frame: Frame, _ delegate: any AMQPSessionDelegate) throws(AMQPError) {
        switch frame.kind {
        case .heartbeat: return
        case .method:
            guard frame.payload.count >= 4 else { throw Self.violation("a method frame without a method") }
            let method = UInt32(bigEndian: frame.payload.loadUnaligned(as: UInt32.self))
            let arguments = UnsafeRawBufferPointer(rebasing: frame.payload[4...])
            if frame.channel == 0 { return try handleConnection(method, arguments, delegate) }
            try handleChannel(frame.channel, method, arguments, delegate)
        case .header, .body:
            guard frame.channel != 0 else { throw Self.violation("content on channel 0") }
            guard try state.received(.other, on: frame.channel) == .take else { return }
            try handleContent(frame, delegate)
        }
    }

    // MARK: Content

    private func handleContent(_ frame: Frame, _ delegate: any AMQPSessionDelegate) throws(AMQPError) {
        let channel = Int(frame.channel)
        let isComplete: Bool
        if frame.kind == .body {
            isComplete = try contents[channel].body(frame.payload)
        } else {
            // Class, weight, body size, property flags (AMQP 0-9-1, 4.2.6.1). The properties are read where they are
            // used, by a reader with limits: a producer's header table can be damaged, or nested without end.
            guard frame.payload.count >= 14 else { throw Self.violation("a content header that is cut off") }
            let bodySize = UInt64(bigEndian: frame.payload.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
            isComplete = try contents[channel].header(
                properties: UnsafeRawBufferPointer(rebasing: frame.payload[12...]), bodySize: bodySize,
                limit: bodyLimit)
        }
        guard isComplete else { return }
        let kind = contents[channel].kind
        let message = contents[channel].take(channel: frame.channel)
        guard case .returned(let code) = kind else { return delegate.delivered(message) }
        // A message of our own came back: what cannot be read was not written by us.
        let properties = try MessagePropertyReader(message.bytes, message.properties)
        let bytes = message.bytes.span
        delegate.returned(
            channel: frame.channel, code: code, messageID: bytes.extracting(properties.messageID ?? 0..<0),
            exchange: bytes.extracting(message.exchange), routingKey: bytes.extracting(message.routingKey))
    }

    // MARK: Methods of channels

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
            forget(channel)
            delegate.channelClosed(channel, code: 200, text: "closed as asked for")
        case .confirmClose:
            let close = try decoder.decode(method, arguments).load(as: amqp_channel_close_t.self)
            let text = String(close.reply_text)
            forget(channel)
            var closeOk = amqp_channel_close_ok_t(dummy: 0)
            try send(Method.channelCloseOk, channel, &closeOk)
            delegate.channelClosed(channel, code: close.reply_code, text: text)
        case .confirmAgain:
            var closeOk = amqp_channel_close_ok_t(dummy: 0)
            try send(Method.channelCloseOk, channel, &closeOk)
        case .take: try handleBasic(method, channel, arguments, delegate)
        }
    }

    /// Forgets what was half received on a channel, and what it was asked.
    private func forget(_ channel: UInt16) {
        contents[Int(channel)].abandon()
        questions[Int(channel)] = 0
    }

    private func handleBasic(
        _ method: UInt32, _ channel: UInt16, _ arguments: UnsafeRawBufferPointer, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        switch method {
        case Method.basicDeliver:
            let deliver = try decoder.decode(method, arguments).assumingMemoryBound(to: amqp_basic_deliver_t.self)
            try contents[Int(channel)].begin(
                .delivery(tag: deliver.pointee.delivery_tag, redelivered: deliver.pointee.redelivered != 0),
                exchange: UnsafeRawBufferPointer(deliver.pointee.exchange),
                routingKey: UnsafeRawBufferPointer(deliver.pointee.routing_key))
        case Method.basicAck:
            let ack = try decoder.decode(method, arguments).load(as: amqp_basic_ack_t.self)
            delegate.confirmed(channel: channel, tag: ack.delivery_tag, multiple: ack.multiple != 0, positive: true)
        case Method.basicNack:
            let nack = try decoder.decode(method, arguments).load(as: amqp_basic_nack_t.self)
            delegate.confirmed(channel: channel, tag: nack.delivery_tag, multiple: nack.multiple != 0, positive: false)
        case Method.basicReturn:
            let returned = try decoder.decode(method, arguments).load(as: amqp_basic_return_t.self)
            try contents[Int(channel)].begin(
                .returned(code: returned.reply_code), exchange: UnsafeRawBufferPointer(returned.exchange),
                routingKey: UnsafeRawBufferPointer(returned.routing_key))
        case Method.basicQosOk: delegate.qosSet(channel)
        case Method.confirmSelectOk: delegate.confirmsSelected(channel)
        case Method.basicConsumeOk:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_consume_ok_t.self).consumer_tag
            delegate.consumeStarted(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)))
        case Method.basicCancelOk:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_cancel_ok_t.self).consumer_tag
            delegate.consumeCancelled(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)), byBroker: false)
        case Method.basicCancel:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_cancel_t.self).consumer_tag
            delegate.consumeCancelled(channel, consumerTag: Array(UnsafeRawBufferPointer(tag)), byBroker: true)
        case Method.channelFlow:
            // RabbitMQ never sends it; refusing to know it would still be worse than agreeing.
            let flow = try decoder.decode(method, arguments).load(as: amqp_channel_flow_t.self)
            var flowOk = amqp_channel_flow_ok_t(active: flow.active)
            try send(Method.channelFlowOk, channel, &flowOk)
        default: try handleAnswer(method, channel, arguments, delegate)
        }
    }

    // MARK: Methods of the connection

    private func handleConnection(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        let event = try connectionEvent(method, arguments)
        let phase = state.phase
        switch try state.received(event.event) {
        case .ignore: return
        case .logIn: try logIn()
        case .open(let limits): try open(limits)
        case .report:
            guard case .blocked(let isBlocked) = event.event else { return }
            if isBlocked { delegate.connectionBlocked(reason: event.reason) } else { delegate.connectionUnblocked() }
        case .confirmClose(let code, let text):
            var closeOk = amqp_connection_close_ok_t(dummy: 0)
            // The broker is leaving either way, so a failure to answer is of no interest.
            try? send(Method.connectionCloseOk, 0, &closeOk)
            if phase == .open { delegate.connectionClosed(code: code, text: text) }
            let what = phase == .open ? "the broker closed the connection" : "the broker refused \(loginText)"
            throw AMQPError(
                code == 403 || code == 530 ? .refused : .connectionClosed, "\(what): \(text)", replyCode: code)
        }
    }

    /// Reads a method of the connection; only those that a broker sends are decoded at all.
    private func connectionEvent(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer
    ) throws(AMQPError) -> (event: AMQPSessionStateMachine.ConnectionEvent, reason: String) {
        switch method {
        case Method.connectionStart:
            // Each may be used only once, so that the copy costs nothing worth saving.
            try Self.checkGreeting(Array(arguments))
            let start = try decoder.decode(method, arguments).load(as: amqp_connection_start_t.self)
            let event = AMQPSessionStateMachine.ConnectionEvent.start(
                major: start.version_major, minor: start.version_minor, mechanisms: String(start.mechanisms))
            return (event, "")
        case Method.connectionSecure: return (.secure, "")
        case Method.connectionTune:
            let tune = try decoder.decode(method, arguments).load(as: amqp_connection_tune_t.self)
            let limits = AMQPLimits(
                channelMax: Int(tune.channel_max), frameMax: Int(tune.frame_max), heartbeat: Int(tune.heartbeat))
            return (.tune(limits), "")
        case Method.connectionOpenOk: return (.openOk, "")
        case Method.connectionClose:
            let close = try decoder.decode(method, arguments).load(as: amqp_connection_close_t.self)
            return (.close(code: close.reply_code, text: String(close.reply_text)), "")
        case Method.connectionCloseOk: return (.closeOk, "")
        case Method.connectionBlocked:
            let blocked = try decoder.decode(method, arguments).load(as: amqp_connection_blocked_t.self)
            return (.blocked(true), String(blocked.reason))
        case Method.connectionUnblocked: return (.blocked(false), "")
        default: throw Self.violation("an unexpected method \(method >> 16).\(method & 0xffff)")
        }
    }

    /// Reads the table of the broker's greeting with limits, before the library does so without: it would go one call
    /// deeper with each level, and 15,000 levels were seen to overflow a stack of 512 KiB.
    private static func checkGreeting(_ arguments: [UInt8]) throws(AMQPError) {
        do throws(AMQPError) {
            var cursor = try WireCursor(0..<arguments.count, in: arguments)
            _ = try cursor.take(2)
            var reader = FieldTableReader(
                try cursor.longString(arguments), maximumDepth: greetingLimits.depth, maximumSize: greetingLimits.size)
            while try reader.next(in: arguments) != nil {}
        } catch {
            throw violation("a greeting that cannot be read: \(error.message)")
        }
    }

    /// An error about something that a broker must not send.
    ///
    /// - Parameter what: What was sent.
    /// - Returns: The error.
    static func violation(_ what: String) -> AMQPError { AMQPError(.protocolViolation, "the broker sent \(what)") }
}
