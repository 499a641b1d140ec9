import EventLoop
import RabbitMQ

// Routes that come and go while the lane runs.
extension Lane {
    /// Takes a route up, at the position of one that has left or behind the others.
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

    /// Goes on with a route that was removed: once nothing of it is left on any lane it ends, and once its channel is
    /// closed another route can take its position.
    func goOnLeaving(_ route: Route) {
        if route.mayEnd() { settings.announce(.routeDrained(route.number)) }
        if route.letGo() { forgetNumber(of: route) }
        guard route.vacate() else { return }
        agenda.set(.distantFuture, of: route.position)
        turnover.free.append(route.position)
    }

    /// Keeps of a route that the lane has let go of only what it counted. Its number may go to another route.
    private func forgetNumber(of route: Route) {
        turnover.remove(route, counted: route.report(at: moment, isDraining: true).counters)
        report.remove(route)
        // Nobody may find its counters under a number that is another route's by then.
        leaveReport()
        settings.routeLeft(route.number, settings.index)
    }
}
