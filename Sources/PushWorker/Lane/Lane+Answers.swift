import EventLoop
import RabbitMQ

// How long the broker may owe a route an answer. Without a limit, a route could wait for ever and have no deliveries.
extension Lane {
    /// When the broker's answer to a route is overdue; nil if it owes none.
    func answerDue(of route: Route) -> MonotonicTime? {
        requestPatience.due(oldest: route.unanswered?.since)
    }

    /// Gives up the consume connection if the broker has owed a route an answer for too long.
    func keepPatience(with route: Route) {
        guard consumeLink.session != nil, let request = route.unanswered else { return }
        // A broker that says that it lacks memory or disk is slow and will go on. During the alarm it owes nothing.
        if publishLink.session?.isBlocked == true { requestPatience.excused(now: now) }
        guard requestPatience.runsOut(oldest: request.since, now: now) else { return }
        let seconds = (now - request.since).components.seconds
        let error = AMQPError(
            .timeout,
            "the broker did not answer for \(seconds) s when asked to \(request.action.text(of: route)) for route "
                + "\(route.name): the connection is opened again; where that repeats, see whether the queue has a "
                + "leader (rabbitmqctl list_queues name state leader online)")
        consumeLink.failed(error, now: now)
    }
}

extension RouteConsumer.Action {
    /// The action in words, to follow "asked to".
    fileprivate func text(of route: Route) -> String {
        switch self {
        case .openChannel: "open a channel"
        case .setPrefetch(let count): "set a prefetch of \(count)"
        case .startConsuming(let queue): "start a consumer of queue \(route.queues[queue])"
        case .cancelConsuming(let queue): "cancel the consumer of queue \(route.queues[queue])"
        case .closeChannel: "close the channel"
        }
    }
}
