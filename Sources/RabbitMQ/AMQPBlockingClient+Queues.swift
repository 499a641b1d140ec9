internal import CRabbitMQ

/// How full a queue is.
package struct QueueDepth: Sendable, Equatable {
    /// Messages ready to be delivered.
    package var messages: Int
    /// Consumers.
    package var consumers: Int
}

extension AMQPBlockingClient {
    /// Fetches one message without a consumer.
    ///
    /// - Parameter queue: the queue.
    /// - Returns: nil if the queue is empty.
    /// - Throws: `channelClosed` (missing queue), `refused`, `timeout`, or an error that ends the connection.
    package func get(queue: String) throws(AMQPError) -> Delivery? {
        let reply = try manage("fetching from \(queue)", onConsumingChannel: true) {
            connection, channel throws(AMQPError) in
            try connection.withBytes(queue, "") { queue, _ throws(AMQPError) in
                var get = amqp_basic_get_t(ticket: 0, queue: queue, no_ack: 0)
                try connection.send(Method.basicGet, channel, &get)
            }
        }
        guard case .message = reply else { return nil }
        return try takeFetched()
    }

    /// Declares a queue.
    ///
    /// - Parameters:
    ///   - name: its name; empty lets the broker choose.
    ///   - exclusive: whether it is this client's alone and goes away with it; otherwise it is durable.
    ///   - arguments: its optional arguments, such as `x-queue-type`.
    /// - Returns: its name.
    /// - Throws: `channelClosed` (other arguments than it has), `refused`, `timeout`, or an error that ends the
    ///   connection.
    package func declareQueue(
        _ name: String = "", exclusive: Bool, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) -> String {
        let reply = try manage("declaring the queue \(name)") { connection, channel throws(AMQPError) in
            try connection.withBytes(name, "") { queue, _ throws(AMQPError) in
                var memory = NestedValues()
                var declare = amqp_queue_declare_t()
                declare.queue = queue
                declare.durable = exclusive ? 0 : 1
                declare.exclusive = exclusive ? 1 : 0
                declare.auto_delete = exclusive ? 1 : 0
                declare.arguments = memory.encode(arguments)
                try connection.send(Method.queueDeclare, channel, &declare)
            }
        }
        guard case .queue(let actual, _, _) = reply else { return name }
        return actual
    }

    /// Asks how full a queue is.
    ///
    /// - Parameter queue: the queue.
    /// - Returns: its ready messages and consumers.
    /// - Throws: `channelClosed` with code 404 if there is no such queue; `refused`, `timeout`, or an error that ends
    ///   the connection.
    package func depth(of queue: String) throws(AMQPError) -> QueueDepth {
        let reply = try manage("looking at the queue \(queue)") { connection, channel throws(AMQPError) in
            try connection.withBytes(queue, "") { queue, _ throws(AMQPError) in
                var declare = amqp_queue_declare_t()
                declare.queue = queue
                declare.passive = 1
                try connection.send(Method.queueDeclare, channel, &declare)
            }
        }
        guard case .queue(_, let messages, let consumers) = reply else { return QueueDepth(messages: 0, consumers: 0) }
        return QueueDepth(messages: messages, consumers: consumers)
    }

    /// Binds a queue to an exchange.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - exchange: the exchange.
    ///   - routingKey: the binding key.
    /// - Throws: `channelClosed` (one of them is missing), `refused`, `timeout`, or an error that ends the connection.
    package func bind(queue: String, exchange: String, routingKey: String) throws(AMQPError) {
        _ = try manage("binding \(queue) to \(exchange)") { connection, channel throws(AMQPError) in
            try connection.withBytes(queue, exchange) { queue, exchange throws(AMQPError) in
                try connection.withBytes(routingKey, "") { key, _ throws(AMQPError) in
                    var bind = amqp_queue_bind_t()
                    bind.queue = queue
                    bind.exchange = exchange
                    bind.routing_key = key
                    try connection.send(Method.queueBind, channel, &bind)
                }
            }
        }
    }

    /// Declares a durable exchange.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - type: `topic`, `direct`, `fanout` or `headers`.
    ///   - arguments: its optional arguments, such as `alternate-exchange`.
    /// - Throws: `channelClosed` (other arguments than it has), `refused`, `timeout`, or an error that ends the
    ///   connection.
    package func declareExchange(
        _ name: String, type: String, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) {
        _ = try manage("declaring the exchange \(name)") { connection, channel throws(AMQPError) in
            try connection.withBytes(name, type) { exchange, type throws(AMQPError) in
                var memory = NestedValues()
                var declare = amqp_exchange_declare_t()
                declare.exchange = exchange
                declare.type = type
                declare.durable = 1
                declare.arguments = memory.encode(arguments)
                try connection.send(Method.exchangeDeclare, channel, &declare)
            }
        }
    }

    /// Empties a queue of what waits in it.
    ///
    /// - Parameter queue: the queue.
    /// - Returns: how many messages were removed.
    /// - Throws: `channelClosed` (missing queue), `refused`, `timeout`, or an error that ends the connection.
    @discardableResult
    package func purge(queue: String) throws(AMQPError) -> Int {
        let reply = try manage("purging \(queue)") { connection, channel throws(AMQPError) in
            try connection.withBytes(queue, "") { queue, _ throws(AMQPError) in
                var purge = amqp_queue_purge_t(ticket: 0, queue: queue, nowait: 0)
                try connection.send(Method.queuePurge, channel, &purge)
            }
        }
        guard case .count(let count) = reply else { return 0 }
        return count
    }

    /// Deletes a queue with all that is in it.
    ///
    /// - Parameter queue: the queue.
    /// - Returns: how many messages were in it.
    /// - Throws: `refused`, `timeout`, or an error that ends the connection.
    @discardableResult
    package func delete(queue: String) throws(AMQPError) -> Int {
        let reply = try manage("deleting \(queue)") { connection, channel throws(AMQPError) in
            try connection.withBytes(queue, "") { queue, _ throws(AMQPError) in
                var delete = amqp_queue_delete_t()
                delete.queue = queue
                try connection.send(Method.queueDelete, channel, &delete)
            }
        }
        guard case .count(let count) = reply else { return 0 }
        return count
    }
}
