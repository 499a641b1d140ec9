import EventLoop
import RabbitMQ

// How long the broker may owe a route an answer. Without a limit, a route could wait for ever and have no deliveries.
extension Lane {
    /// When the broker's answer to a route is overdue; nil if the broker owes no answer.
    func answerDue(of route: Route) -> MonotonicTime? {
        requestPatience.due(oldest: route.channel.unanswered?.since)
    }

    /// Gives up the consume connection if the broker has owed a route an answer for too long.
    func keepPatience(with route: Route) {
        guard consumeLink.session != nil, let request = route.channel.unanswered else { return }
        // A broker that says that it lacks memory or disk is slow and will go on. During the alarm it owes nothing.
        if publishLink.session?.isBlocked == true { requestPatience.excused(now: now) }
        guard requestPatience.runsOut(oldest: request.since, now: now) else { return }
        consumeLink.failed(request.overdue(of: route, now: now), now: now)
    }
}
