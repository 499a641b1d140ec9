import CRabbitMQ

/// Reads what a broker sends on one open channel: methods, and messages in several frames.
///
/// It holds the message that is not complete yet and the request that is not answered yet. It reports nothing itself:
/// its owner reports what the methods return. Errors are violations of the protocol, which end the connection.
struct ChannelReader {
    /// What a method of the broker means.
    enum Event: Equatable {
        /// A message begins; its header and its body follow.
        case messageBegan
        /// The prefetch count is set.
        case qosSet
        /// Publisher confirms are switched on.
        case confirmsSelected
        /// A consumer is started.
        case consumeStarted(tag: [UInt8])
        /// A consumer has ended, as asked for or by the broker.
        case consumeCancelled(tag: [UInt8], byBroker: Bool)
        /// The broker took or refused the message that was published under this number, or all up to it.
        case confirmed(tag: UInt64, multiple: Bool, positive: Bool)
        /// The broker wants the flow of messages to go on or to stop, and waits for an answer.
        case flow(isActive: Bool)
        /// The request is answered.
        case answered(AMQPAnswer)
    }

    private var content = ContentAssembly()
    /// The number of the method whose answer is awaited; 0 for none.
    private var asked: UInt32 = 0

    /// Whether the last message is a delivery or a returned one.
    var kind: ContentAssembly.Kind { content.kind }

    /// Notes that a request was sent; one at a time.
    ///
    /// - Parameter request: The request.
    mutating func awaitAnswer(to request: AMQPRequest) { asked = request.method }

    /// Forgets the incomplete message and the open request, because the channel ends.
    mutating func forget() {
        content.abandon()
        asked = 0
    }

    /// Reads a frame of a message.
    ///
    /// - Parameters:
    ///   - frame: A header or body frame.
    ///   - bodyLimit: The largest body that is kept, in bytes.
    /// - Returns: The message, once it is complete.
    /// - Throws: `protocolViolation` for a frame that does not come next.
    mutating func message(_ frame: Frame, bodyLimit: Int) throws(AMQPError) -> Delivery? {
        let isComplete: Bool
        if frame.kind == .body {
            isComplete = try content.body(frame.payload)
        } else {
            // Class, weight, body size, property flags (AMQP 0-9-1, 4.2.6.1). The properties are read where they are
            // used, by a reader with limits: a producer's header table can be damaged, or nested without end.
            guard frame.payload.count >= MessageLayout.contentHeadSize + 2 else {
                throw AMQPError.brokerSent("a content header that is cut off")
            }
            let bodySize = UInt64(bigEndian: frame.payload.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
            isComplete = try content.header(
                properties: UnsafeRawBufferPointer(rebasing: frame.payload[MessageLayout.contentHeadSize...]),
                bodySize: bodySize, limit: bodyLimit)
        }
        return isComplete ? content.take(channel: frame.channel) : nil
    }

    /// Reads a method.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - arguments: The bytes behind the number.
    ///   - decoder: What decodes them.
    /// - Returns: What it means.
    /// - Throws: `protocolViolation` if it cannot be read, or must not come now.
    mutating func event(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer, decoder: inout MethodDecoder
    ) throws(AMQPError) -> Event {
        switch method {
        case Method.basicDeliver:
            let deliver = try decoder.decode(method, arguments).assumingMemoryBound(to: amqp_basic_deliver_t.self)
            try content.begin(
                .delivery(tag: deliver.pointee.delivery_tag, redelivered: deliver.pointee.redelivered != 0),
                exchange: UnsafeRawBufferPointer(deliver.pointee.exchange),
                routingKey: UnsafeRawBufferPointer(deliver.pointee.routing_key))
            return .messageBegan
        case Method.basicAck:
            let ack = try decoder.decode(method, arguments).load(as: amqp_basic_ack_t.self)
            return .confirmed(tag: ack.delivery_tag, multiple: ack.multiple != 0, positive: true)
        case Method.basicNack:
            let nack = try decoder.decode(method, arguments).load(as: amqp_basic_nack_t.self)
            return .confirmed(tag: nack.delivery_tag, multiple: nack.multiple != 0, positive: false)
        case Method.basicReturn:
            let returned = try decoder.decode(method, arguments).load(as: amqp_basic_return_t.self)
            try content.begin(
                .returned(code: returned.reply_code), exchange: UnsafeRawBufferPointer(returned.exchange),
                routingKey: UnsafeRawBufferPointer(returned.routing_key))
            return .messageBegan
        case Method.basicQosOk: return .qosSet
        case Method.confirmSelectOk: return .confirmsSelected
        case Method.basicConsumeOk:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_consume_ok_t.self).consumer_tag
            return .consumeStarted(tag: Array(UnsafeRawBufferPointer(tag)))
        case Method.basicCancelOk:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_cancel_ok_t.self).consumer_tag
            return .consumeCancelled(tag: Array(UnsafeRawBufferPointer(tag)), byBroker: false)
        case Method.basicCancel:
            let tag = try decoder.decode(method, arguments).load(as: amqp_basic_cancel_t.self).consumer_tag
            return .consumeCancelled(tag: Array(UnsafeRawBufferPointer(tag)), byBroker: true)
        case Method.channelFlow:
            let flow = try decoder.decode(method, arguments).load(as: amqp_channel_flow_t.self)
            return .flow(isActive: flow.active != 0)
        default: return .answered(try answer(method, arguments, decoder: &decoder))
        }
    }

    private mutating func answer(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer, decoder: inout MethodDecoder
    ) throws(AMQPError) -> AMQPAnswer {
        let asked = asked
        self.asked = 0
        switch (asked, method) {
        case (Method.queueDeclare, Method.queueDeclareOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_declare_ok_t.self)
            return .queue(
                name: String(answer.queue), messages: Int(answer.message_count), consumers: Int(answer.consumer_count))
        case (Method.queuePurge, Method.queuePurgeOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_purge_ok_t.self)
            return .count(Int(answer.message_count))
        case (Method.queueDelete, Method.queueDeleteOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_delete_ok_t.self)
            return .count(Int(answer.message_count))
        case (Method.queueBind, Method.queueBindOk), (Method.exchangeDeclare, Method.exchangeDeclareOk): return .done
        case (Method.basicGet, Method.basicGetEmpty): return .noMessage
        case (Method.basicGet, Method.basicGetOk):
            let got = try decoder.decode(method, arguments).load(as: amqp_basic_get_ok_t.self)
            try content.begin(
                .delivery(tag: got.delivery_tag, redelivered: got.redelivered != 0),
                exchange: UnsafeRawBufferPointer(got.exchange), routingKey: UnsafeRawBufferPointer(got.routing_key))
            return .message
        default: throw AMQPError.brokerSent("an unexpected method \(method >> 16).\(method & 0xffff)")
        }
    }
}
