import APNSClient
import BrokerClient
import EventLoop

// How a lane puts itself together.
extension Lane {
    func makePublisher() -> Publisher {
        Publisher(
            link: { [unowned self] in publishLink }, renderer: settings.renderer, policy: settings.policy,
            patience: ConfirmPatience(usual: settings.confirmPatience), heldUpLimit: settings.heldUpLimit,
            random: surroundings.random, isNoted: { [journal] note in journal?.mayPublish(note) ?? true },
            fate: { [unowned self] publication, fate in
                let route = routes[publication.route]
                route.published(publication, fate, at: moment)
                mark(route)
            })
    }

    func makeLink(_ role: BrokerLink.Role) -> BrokerLink {
        let delegate: any BrokerLinkDelegate = role == .consume ? consumeEvents : publishEvents
        return BrokerLink(
            role: role, identity: settings.identity(role), loop: loop, delegate: delegate, now: now,
            random: surroundings.random, outages: surroundings.outages,
            // Consuming waits for the publish connection: jobs that arrive before results can go out would only wait
            // here.
            mayConnect: { [unowned self] in role == .publish || publishLink.session != nil }
        ) { [unowned self] role, number in
            let (broker, channels, handle) = (settings.broker, max(settings.routeCount, routes.count) + 8, handle)
            surroundings.findBrokers(broker, channels) { found in
                handle.post(.brokersFound(role, number: number, found))
            }
        }
    }

    func makeRoutes() -> [Route] {
        settings.routes.enumerated().map { position, own in makeRoute(own, at: position) }
    }

    /// Makes a route that consumes nothing yet.
    func makeRoute(_ own: LaneSettings.RouteSettings, at position: Int) -> Route {
        let surroundings = RouteSurroundings(
            policy: settings.policy, publisher: publisher, replyPattern: settings.replyPattern,
            jobsFrom: settings.jobsFrom, journal: journal, earlier: settings.journal, spans: settings.spans,
            random: self.surroundings.random, resultsBatch: own.resultsBatch, memory: settings.memory,
            open: { [unowned self] in open($1, of: $0) })
        let route = settings.makeRoute(own, at: position, in: surroundings)
        // If other routes can use the files, no other log line says why this route begins without a credential.
        if let name = route.credential.name, let reason = route.credential.defect,
            settings.credentials.unusable(name) == nil
        {
            log.credentials.beginsUnfit(route, credential: name, reason)
        }
        return route
    }

    /// Gives a destination connections, with the credential that the route's pushes use.
    private func open(_ destination: Destination, of route: Route) {
        guard let connector = destination.connector, let credentials = route.credential.opening else { return }
        let events = DestinationEvents(lane: self, route: route, destination: destination, connector: connector)
        let pool = APNSPool(
            configuration: settings.pool(of: destination, ofRoute: route.position), loop: loop,
            endpoint: connector.endpoint, credential: credentials.present, delegate: events,
            random: surroundings.random)
        destination.open(pool, events: events)
        pool.keepSpare(credentials.spare)
        // The newest version is proved on a connection of its own, if another version is in use.
        pool.offer(credentials.newest, now: now)
    }
}
