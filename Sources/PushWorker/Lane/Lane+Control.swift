import EventLoop

// What operators want of the lane's routes.
extension Lane {
    /// What operators ask for ends by the wall clock as it is, also after it was set.
    private var controlMoment: Moment { Moment(monotonic: now, wall: wall) }

    /// Tells each route what operators want of it, if that has changed.
    func followControl() {
        let moment = controlMoment
        guard control.isDue(isConnected: consumeLink.session != nil, at: moment) else { return }
        control.told(at: wall)
        let campaigns = control.state.campaigns(at: wall)
        for route in routes {
            let isLimited = route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: moment))
            guard route.follow(wanted(of: route, campaigns)) || isLimited else { continue }
            mark(route)
        }
    }

    /// Holds the routes to this worker's parts of the rates that operators set for all workers.
    ///
    /// - Parameter rates: The parts, by the routes' names.
    func followRates(_ rates: [String: SharedRate]) {
        control.rates = rates
        let moment = controlMoment
        for route in routes where route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: moment)) {
            mark(route)
        }
    }

    /// Tells a new route what operators want.
    func followControl(_ route: Route) {
        route.limitForFleet(to: control.fleetRate(ofRoute: route.name, at: controlMoment))
        route.follow(wanted(of: route, control.state.campaigns(at: wall)))
    }

    private func wanted(of route: Route, _ campaigns: CampaignIndex) -> RouteControl {
        RouteControl(
            isAwaited: control.isAwaited, pause: control.state.pause(ofRoute: route.name, at: wall),
            campaigns: campaigns, trust: control.state.trust(ofRoute: route.name)?.id)
    }
}
