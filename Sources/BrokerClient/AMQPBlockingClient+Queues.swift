package import RabbitMQ

extension AMQPBlockingClient {
    /// How full a queue is.
    package struct QueueDepth: Sendable, Equatable {
        /// Messages ready to be delivered.
        package var messages: Int
        /// Consumers.
        package var consumers: Int
    }

    /// Fetches one message without a consumer.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: Nil if the queue is empty.
    /// - Throws: `channelClosed` (missing queue), `refused`, `timeout`, or an error that ends the connection.
    package func get(queue: String) throws(AMQPError) -> Delivery? {
        guard case .message = try ask(.get(queue: queue), "fetching from \(queue)") else { return nil }
        return try takeFetched()
    }

    /// Declares a queue.
    ///
    /// - Parameters:
    ///   - name: Its name; empty lets the broker choose.
    ///   - exclusive: Whether the queue belongs to this client's connection alone and goes away with it. Any other
    ///     queue is durable.
    ///   - arguments: Its optional arguments, such as `x-queue-type`.
    /// - Returns: Its name.
    /// - Throws: `channelClosed` (it exists with other arguments), `refused`, `timeout`, or an error that ends the
    ///   connection.
    package func declareQueue(
        _ name: String = "", exclusive: Bool, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) -> String {
        let request = AMQPRequest.declareQueue(name: name, isExclusive: exclusive, arguments: arguments)
        guard case .queue(let actual, _, _) = try ask(request, "declaring the queue \(name)") else { return name }
        return actual
    }

    /// Asks how full a queue is.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: Its ready messages and consumers.
    /// - Throws: `channelClosed` with code 404 if there is no such queue; `refused`, `timeout`, or an error that ends
    ///   the connection.
    package func depth(of queue: String) throws(AMQPError) -> QueueDepth {
        let reply = try ask(.inspectQueue(name: queue), "looking at the queue \(queue)")
        guard case .queue(_, let messages, let consumers) = reply else { return QueueDepth(messages: 0, consumers: 0) }
        return QueueDepth(messages: messages, consumers: consumers)
    }

    /// Binds a queue to an exchange.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - exchange: The exchange.
    ///   - routingKey: The binding key.
    /// - Throws: `channelClosed` (one of them is missing), `refused`, `timeout`, or an error that ends the connection.
    package func bind(queue: String, exchange: String, routingKey: String) throws(AMQPError) {
        _ = try ask(
            .bindQueue(name: queue, exchange: exchange, routingKey: routingKey), "binding \(queue) to \(exchange)")
    }

    /// Declares a durable exchange.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - type: `topic`, `direct`, `fanout` or `headers`.
    ///   - arguments: Its optional arguments, such as `alternate-exchange`.
    /// - Throws: `channelClosed` (it exists with other arguments), `refused`, `timeout`, or an error that ends the
    ///   connection.
    package func declareExchange(
        _ name: String, type: String, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) {
        _ = try ask(
            .declareExchange(name: name, type: type, arguments: arguments), "declaring the exchange \(name)")
    }

    /// Makes sure that there is an exchange.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `channelClosed` with code 404 if there is none; `refused`, `timeout`, or an error that ends the
    ///   connection.
    package func find(exchange name: String) throws(AMQPError) {
        _ = try ask(.inspectExchange(name: name), "looking for the exchange \(name)")
    }

    /// Removes the ready messages of a queue.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: How many messages were removed.
    /// - Throws: `channelClosed` (missing queue), `refused`, `timeout`, or an error that ends the connection.
    @discardableResult
    package func purge(queue: String) throws(AMQPError) -> Int {
        guard case .count(let count) = try ask(.purgeQueue(name: queue), "purging \(queue)") else { return 0 }
        return count
    }

    /// Deletes a queue with all that is in it.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: How many messages were in it.
    /// - Throws: `channelClosed` (another connection's exclusive queue), `refused`, `timeout`, or an error that ends
    ///   the connection.
    @discardableResult
    package func delete(queue: String) throws(AMQPError) -> Int {
        guard case .count(let count) = try ask(.deleteQueue(name: queue), "deleting \(queue)") else { return 0 }
        return count
    }
}
