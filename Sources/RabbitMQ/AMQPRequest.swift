import CRabbitMQ

/// A request about queues and exchanges, for tools. The broker answers with an `AMQPAnswer`, or it closes the channel.
package enum AMQPRequest: Sendable, Equatable {
    /// Fetches one message without a consumer. The message follows the answer as a delivery.
    case get(queue: String)
    /// Declares a queue. An exclusive queue belongs to this connection alone. It goes away with the connection, or with
    /// its last consumer. Any other queue is durable. An empty name lets the broker choose. An argument is
    /// `x-queue-type`, for example.
    case declareQueue(name: String, isExclusive: Bool, arguments: FieldTable)
    /// Asks how full a queue is, without declaring it. The broker closes the channel with code 404 if there is no such
    /// queue.
    case inspectQueue(name: String)
    /// Binds a queue to an exchange.
    case bindQueue(name: String, exchange: String, routingKey: String)
    /// Declares a durable exchange: `topic`, `direct`, `fanout` or `headers`. An argument is `alternate-exchange`,
    /// for example.
    case declareExchange(name: String, type: String, arguments: FieldTable)
    /// Asks whether there is an exchange, without declaring it. The broker closes the channel with code 404 if there is
    /// none.
    case inspectExchange(name: String)
    /// Removes the ready messages of a queue.
    case purgeQueue(name: String)
    /// Deletes a queue with all that is in it.
    case deleteQueue(name: String)

    /// The number of the method that asks for it.
    var method: UInt32 {
        switch self {
        case .get: Method.basicGet
        case .declareQueue, .inspectQueue: Method.queueDeclare
        case .bindQueue: Method.queueBind
        case .declareExchange, .inspectExchange: Method.exchangeDeclare
        case .purgeQueue: Method.queuePurge
        case .deleteQueue: Method.queueDelete
        }
    }

    /// Writes the method.
    ///
    /// - Parameters:
    ///   - output: The writer that gets the method.
    ///   - channel: The channel to ask on.
    /// - Throws: `invalidMessage` for a name of more than 255 bytes, and nothing is written then; any other error ends
    ///   the connection.
    func put(into output: inout FrameWriter, channel: UInt16) throws(AMQPError) {
        var values = LibraryValues()
        switch self {
        case .get(let queue):
            var get = amqp_basic_get_t(ticket: 0, queue: try values.name(queue), no_ack: 0)
            try output.putMethod(method, channel, &get)
        case .declareQueue(let name, let isExclusive, let arguments):
            var declare = amqp_queue_declare_t()
            declare.queue = try values.name(name)
            declare.durable = isExclusive ? 0 : 1
            declare.exclusive = isExclusive ? 1 : 0
            declare.auto_delete = isExclusive ? 1 : 0
            declare.arguments = values.encode(arguments)
            try output.putMethod(method, channel, &declare, size: Self.size(with: arguments))
        case .inspectQueue(let name):
            var declare = amqp_queue_declare_t()
            declare.queue = try values.name(name)
            declare.passive = 1
            try output.putMethod(method, channel, &declare)
        case .bindQueue(let name, let exchange, let routingKey):
            var bind = amqp_queue_bind_t()
            bind.queue = try values.name(name)
            bind.exchange = try values.name(exchange)
            bind.routing_key = try values.name(routingKey)
            try output.putMethod(method, channel, &bind)
        case .declareExchange(let name, let type, let arguments):
            var declare = amqp_exchange_declare_t()
            declare.exchange = try values.name(name)
            declare.type = try values.name(type)
            declare.durable = 1
            declare.arguments = values.encode(arguments)
            try output.putMethod(method, channel, &declare, size: Self.size(with: arguments))
        case .inspectExchange(let name):
            var declare = amqp_exchange_declare_t()
            declare.exchange = try values.name(name)
            // The broker does not compare it.
            declare.type = try values.name("topic")
            declare.passive = 1
            try output.putMethod(method, channel, &declare)
        case .purgeQueue(let name):
            var purge = amqp_queue_purge_t(ticket: 0, queue: try values.name(name), nowait: 0)
            try output.putMethod(method, channel, &purge)
        case .deleteQueue(let name):
            var delete = amqp_queue_delete_t()
            delete.queue = try values.name(name)
            try output.putMethod(method, channel, &delete)
        }
    }

    private static func size(with arguments: FieldTable) -> Int {
        FrameWriter.ordinarySize + FieldValue.table(arguments).encodedSize
    }
}
