import EventLoop
import RabbitMQ

// Routes that come and go while the lane runs.
extension Lane {
    /// Adds a route, at the position of a route that has left, otherwise behind the others.
    func add(_ own: LaneSettings.RouteSettings) {
        let position = turnover.free.popLast() ?? routes.count
        let route = makeRoute(own, at: position)
        if position < routes.count {
            agenda.forget(routes[position])
            settings.routes[position] = own
            routes[position] = route
        } else {
            settings.routes.append(own)
            routes.append(route)
            agenda.addPosition()
        }
        publisher.setRoute(own.claim == nil ? nil : own.name, at: position)
        report.add(route)
        turnover.add(route)
        route.serve(turnover.isServed(route))
        followControl(route)
        if let session = consumeLink.session {
            if Int(route.channel.number) <= session.channelMax {
                route.channel.connected()
            } else {
                log.routes.lacksChannel(route)
            }
        }
        mark(route)
    }

    /// Goes on with a route that was removed. The route ends once nothing of it is left. Another route can take its
    /// position once its channel is closed.
    func goOnLeaving(_ route: Route) {
        // Its channel has something to do later.
        if route.endOnceDrained(at: moment) { mark(route) }
        if route.letGo() { forgetNumber(of: route) }
        guard route.vacate() else { return }
        agenda.set(.distantFuture, of: route.position)
        turnover.free.append(route.position)
    }

    /// Forgets a route that the lane has let go of, except for what it counted. Its number may go to another route.
    private func forgetNumber(of route: Route) {
        turnover.remove(route, counted: route.report(at: moment, isDraining: true).counters)
        report.remove(route)
        // The report leaves before the number is free. Otherwise somebody could find these counters under the number of
        // a new route.
        leaveReport()
        settings.routeLeft(route.number)
    }
}
