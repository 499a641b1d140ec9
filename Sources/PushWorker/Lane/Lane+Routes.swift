import EventLoop
import Logging
import RabbitMQ

// Routes that come and go while the lane runs.
extension Lane {
    /// Takes a route up, at the position of one that has left or behind the others.
    func add(_ own: LaneSettings.RouteSettings) {
        let position = turnover.free.popLast() ?? routes.count
        let route = makeRoute(own, at: position)
        if position < routes.count {
            forget(routes[position])
            settings.routes[position] = own
            routes[position] = route
        } else {
            settings.routes.append(own)
            routes.append(route)
            dueTimes.add()
        }
        publisher.setRoute(own.claim == nil ? nil : own.name, at: position)
        report.add(route)
        route.isServed = turnover.isServed(route)
        if let session = consumeLink.session {
            if Int(route.channel) <= session.channelMax {
                route.connected()
            } else {
                logger.error(
                    "a route cannot begin: the lane's connection to the broker has no channel left, restart the worker",
                    metadata: .with([.route: "\(route.name)", .lane: "\(settings.index)"]))
            }
        }
        mark(route)
    }

    /// Goes on with a route that was removed: once nothing of it is left on any lane it ends, and once its channel is
    /// closed another route can take its position.
    func goOnLeaving(_ route: Route) {
        guard !route.isVacant else { return }
        if route.hasEnded {
            if !route.hasLeft { leave(route) }
            guard route.consumer.isClosed else { return }
            route.isVacant = true
            dueTimes.set(.distantFuture, of: route.position)
            turnover.free.append(route.position)
        } else if route.shared.barrier.note(settings.index, isDrained: route.isDrained && route.publications == 0) {
            settings.announce(.routeDrained(route.number))
        }
    }

    /// Lets go of a route of which nothing is left.
    private func leave(_ route: Route) {
        route.hasLeft = true
        var counters = route.report(at: moment, isDraining: true).counters
        counters.clearGauges()
        if turnover.counted == nil { turnover.counted = counters } else { turnover.counted?.add(counters) }
        report.remove(route)
        // Nobody may find its counters under a number that is another route's by then.
        leaveReport()
        settings.routeLeft(route.number, settings.index)
    }

    /// Forgets a route that has left, before another one takes its position.
    private func forget(_ route: Route) {
        marked.removeAll { $0 === route }
        heldBack.removeAll { $0 === route }
        starved.removeAll { $0 === route }
    }
}
