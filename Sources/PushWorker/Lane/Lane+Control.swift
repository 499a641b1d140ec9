import EventLoop

// What operators want of the lane's routes.
extension Lane {
    /// Requests of operators end by the wall clock as it is, also after the clock was set.
    private var controlMoment: Moment { Moment(monotonic: now, wall: clock.wall) }

    /// Tells each route what operators want of it, if that has changed.
    func followControl() {
        let moment = controlMoment
        guard control.isDue(isConnected: consumeLink.session != nil, at: moment) else { return }
        control.told(at: moment.wall)
        let campaigns = control.state.campaigns(at: moment.wall)
        for route in routes {
            let isLimited = route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: moment))
            guard route.follow(control.wanted(ofRoute: route.name, campaigns, at: moment.wall)) || isLimited else {
                continue
            }
            mark(route)
        }
    }

    /// Holds the routes to this worker's parts of the rates that operators set for all workers.
    ///
    /// - Parameter parts: The parts, by the routes' names.
    func followRates(_ parts: [String: FleetRates.Part]) {
        control.deal(parts, now: now)
        let moment = controlMoment
        for route in routes where route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: moment)) {
            mark(route)
        }
    }

    /// Tells a new route what operators want.
    func followControl(_ route: Route) {
        let moment = controlMoment
        route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: moment))
        let campaigns = control.state.campaigns(at: moment.wall)
        route.follow(control.wanted(ofRoute: route.name, campaigns, at: moment.wall))
    }
}
