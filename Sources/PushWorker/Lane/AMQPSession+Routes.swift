import EventLoop
import RabbitMQ

// The methods of a route, on its channel of the consume connection.
extension AMQPSession {
    /// Sends the broker a method for a route's channel.
    ///
    /// - Parameters:
    ///   - action: What the route wants of the broker.
    ///   - route: The route.
    /// - Throws: `AMQPError` that ends the connection.
    func ask(_ action: RouteConsumer.Action, for route: Route) throws(AMQPError) {
        let channel = route.channel
        switch action {
        case .openChannel: try openChannel(channel.number)
        case .setPrefetch(let count): try setPrefetch(channel.number, count: UInt16(count))
        case .startConsuming(let queue):
            try startConsuming(
                channel.number, queue: channel.queues[queue], consumerTag: channel.consumerTag(queue),
                arguments: route.consumerArguments)
        case .cancelConsuming(let queue): try cancel(channel.number, consumerTag: channel.consumerTag(queue))
        case .closeChannel: try closeChannel(channel.number)
        }
    }

    /// Sends the method that settles deliveries: an acknowledgement of one or more, a rejection, or a requeue.
    ///
    /// - Parameters:
    ///   - debt: What is owed for the deliveries.
    ///   - channel: The channel on which they came.
    /// - Returns: False without room in the output buffer.
    /// - Throws: `AMQPError` that ends the connection.
    func pay(_ debt: DeliveryLedger.Debt, on channel: UInt16) throws(AMQPError) -> Bool {
        switch debt {
        case .acknowledge(let one):
            try acknowledge(channel: channel, deliveryTag: one.deliveryTag, multiple: one.multiple)
        case .reject(let tag): try reject(channel: channel, deliveryTag: tag, requeue: false)
        case .requeue(let tag):
            try negativeAcknowledge(channel: channel, deliveryTag: tag, multiple: false, requeue: true)
        }
    }
}

extension RouteConsumer.Request {
    /// The error of a connection on which the broker does not answer.
    ///
    /// - Parameters:
    ///   - route: The route that asked.
    ///   - now: The time.
    /// - Returns: The error.
    func overdue(of route: Route, now: MonotonicTime) -> AMQPError {
        let seconds = (now - since).components.seconds
        return AMQPError(
            .timeout,
            "the broker did not answer for \(seconds) s when asked to \(action.text(of: route)) for route "
                + "\(route.name): the connection is opened again; where that repeats, see whether the queue has a "
                + "leader (rabbitmqctl list_queues name state leader online)")
    }
}

extension RouteConsumer.Action {
    /// The action in words, to follow "asked to".
    fileprivate func text(of route: Route) -> String {
        switch self {
        case .openChannel: "open a channel"
        case .setPrefetch(let count): "set a prefetch of \(count)"
        case .startConsuming(let queue): "start a consumer of queue \(route.channel.queues[queue])"
        case .cancelConsuming(let queue): "cancel the consumer of queue \(route.channel.queues[queue])"
        case .closeChannel: "close the channel"
        }
    }
}
