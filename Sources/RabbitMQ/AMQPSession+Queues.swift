import CRabbitMQ

/// Requests about queues and exchanges, for tools: one at a time per channel, each answered by
/// `AMQPSessionDelegate.answered` or by the end of its channel.
extension AMQPSession {
    /// Fetches one message without a consumer; it follows the answer as a delivery.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - queue: The queue, at most 255 bytes.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func get(_ channel: UInt16, queue: String) throws(AMQPError) {
        try withBytes(queue, "") { queue, _ throws(AMQPError) in
            var get = amqp_basic_get_t(ticket: 0, queue: queue, no_ack: 0)
            try self.ask(Method.basicGet, channel, &get)
        }
    }

    /// Declares a queue.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - queue: Its name; empty lets the broker choose.
    ///   - exclusive: Whether it is this connection's alone and goes away with it; otherwise it is durable.
    ///   - arguments: Its optional arguments, such as `x-queue-type`.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func declareQueue(
        _ channel: UInt16, queue: String, exclusive: Bool, arguments: FieldTable
    ) throws(AMQPError) {
        try withBytes(queue, "") { queue, _ throws(AMQPError) in
            var memory = NestedValues()
            var declare = amqp_queue_declare_t()
            declare.queue = queue
            declare.durable = exclusive ? 0 : 1
            declare.exclusive = exclusive ? 1 : 0
            declare.auto_delete = exclusive ? 1 : 0
            declare.arguments = memory.encode(arguments)
            try self.ask(Method.queueDeclare, channel, &declare, arguments)
        }
    }

    /// Asks how full a queue is, without making it.
    ///
    /// - Parameters:
    ///   - channel: The channel; the broker closes it with code 404 if there is no such queue.
    ///   - queue: The queue, at most 255 bytes.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func inspectQueue(_ channel: UInt16, queue: String) throws(AMQPError) {
        try withBytes(queue, "") { queue, _ throws(AMQPError) in
            var declare = amqp_queue_declare_t()
            declare.queue = queue
            declare.passive = 1
            try self.ask(Method.queueDeclare, channel, &declare)
        }
    }

    /// Binds a queue to an exchange.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - queue: The queue.
    ///   - exchange: The exchange.
    ///   - routingKey: The binding key.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func bindQueue(
        _ channel: UInt16, queue: String, exchange: String, routingKey: String
    ) throws(AMQPError) {
        try withBytes(queue, exchange) { queue, exchange throws(AMQPError) in
            try self.withBytes(routingKey, "") { key, _ throws(AMQPError) in
                var bind = amqp_queue_bind_t()
                bind.queue = queue
                bind.exchange = exchange
                bind.routing_key = key
                try self.ask(Method.queueBind, channel, &bind)
            }
        }
    }

    /// Declares a durable exchange.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - exchange: Its name.
    ///   - type: `topic`, `direct`, `fanout` or `headers`.
    ///   - arguments: Its optional arguments, such as `alternate-exchange`.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func declareExchange(
        _ channel: UInt16, exchange: String, type: String, arguments: FieldTable
    ) throws(AMQPError) {
        try withBytes(exchange, type) { exchange, type throws(AMQPError) in
            var memory = NestedValues()
            var declare = amqp_exchange_declare_t()
            declare.exchange = exchange
            declare.type = type
            declare.durable = 1
            declare.arguments = memory.encode(arguments)
            try self.ask(Method.exchangeDeclare, channel, &declare, arguments)
        }
    }

    /// Empties a queue of what waits in it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - queue: The queue.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func purgeQueue(_ channel: UInt16, queue: String) throws(AMQPError) {
        try withBytes(queue, "") { queue, _ throws(AMQPError) in
            var purge = amqp_queue_purge_t(ticket: 0, queue: queue, nowait: 0)
            try self.ask(Method.queuePurge, channel, &purge)
        }
    }

    /// Deletes a queue with all that is in it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - queue: The queue.
    /// - Throws: `invalidMessage` for a name that is too long, or an error that ends the connection.
    package func deleteQueue(_ channel: UInt16, queue: String) throws(AMQPError) {
        try withBytes(queue, "") { queue, _ throws(AMQPError) in
            var delete = amqp_queue_delete_t()
            delete.queue = queue
            try self.ask(Method.queueDelete, channel, &delete)
        }
    }

    private func ask<Arguments>(
        _ method: UInt32, _ channel: UInt16, _ arguments: inout Arguments, _ table: FieldTable = FieldTable()
    ) throws(AMQPError) {
        try send(method, channel, &arguments, size: 1024 + FieldValue.table(table).encodedSize)
        questions[Int(channel)] = method
    }

    /// Takes a method that answers a request about queues and exchanges.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - channel: Its channel, which is open.
    ///   - arguments: The bytes behind the number.
    ///   - delegate: What to report to.
    /// - Throws: `protocolViolation` if it answers nothing that was asked.
    func handleAnswer(
        _ method: UInt32, _ channel: UInt16, _ arguments: UnsafeRawBufferPointer, _ delegate: any AMQPSessionDelegate
    ) throws(AMQPError) {
        let question = questions[Int(channel)]
        questions[Int(channel)] = 0
        switch (question, method) {
        case (Method.queueDeclare, Method.queueDeclareOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_declare_ok_t.self)
            let queue = AMQPAnswer.queue(
                name: String(answer.queue), messages: Int(answer.message_count), consumers: Int(answer.consumer_count))
            delegate.answered(channel, queue)
        case (Method.queuePurge, Method.queuePurgeOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_purge_ok_t.self)
            delegate.answered(channel, .count(Int(answer.message_count)))
        case (Method.queueDelete, Method.queueDeleteOk):
            let answer = try decoder.decode(method, arguments).load(as: amqp_queue_delete_ok_t.self)
            delegate.answered(channel, .count(Int(answer.message_count)))
        case (Method.queueBind, Method.queueBindOk), (Method.exchangeDeclare, Method.exchangeDeclareOk):
            delegate.answered(channel, .done)
        case (Method.basicGet, Method.basicGetEmpty): delegate.answered(channel, .noMessage)
        case (Method.basicGet, Method.basicGetOk):
            let got = try decoder.decode(method, arguments).load(as: amqp_basic_get_ok_t.self)
            try contents[Int(channel)].begin(
                .delivery(tag: got.delivery_tag, redelivered: got.redelivered != 0),
                exchange: UnsafeRawBufferPointer(got.exchange), routingKey: UnsafeRawBufferPointer(got.routing_key))
            delegate.answered(channel, .message)
        default: throw Self.violation("an unexpected method \(method >> 16).\(method & 0xffff)")
        }
    }
}
