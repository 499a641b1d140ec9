import APNSClient
import BrokerClient
import EventLoop
import Glibc
import PushModel
import RabbitMQ
import Topology
import WorkerSettings

// How a lane puts itself together.
extension Lane {
    func makePublisher() -> Publisher {
        Publisher(
            link: { [unowned self] in publishLink },
            renderer: PublicationRenderer(
                tiers: settings.tierNames, routes: settings.routes.map { $0.claim == nil ? nil : $0.name },
                worker: settings.instance, includesDeviceToken: settings.includesDeviceToken,
                resultsQueues: settings.resultsQueues),
            policy: settings.policy, patience: ConfirmPatience(usual: settings.confirmPatience),
            heldUpLimit: settings.heldUpLimit,
            isNoted: { [journal] note in journal?.mayPublish(note) ?? true },
            fate: { [unowned self] publication, fate in
                let route = routes[publication.route]
                route.published(publication, fate, at: moment)
                mark(route)
            })
    }

    func makeLink(_ role: LinkRole) -> BrokerLink {
        let delegate: any BrokerLinkDelegate = role == .consume ? consumeEvents : publishEvents
        let identity = BrokerLink.Identity(
            name: "\(settings.instance) lane \(settings.index) \(role.rawValue)", version: settings.version)
        return BrokerLink(
            role: role, identity: identity, loop: loop, delegate: delegate, now: now,
            // Jobs that arrive before results can go out would only wait here.
            mayConnect: { [unowned self] in role == .publish || publishLink.session != nil }
        ) { [unowned self] role, number in
            let (broker, channels, handle) = (settings.broker, max(settings.routeCount, routes.count) + 8, handle)
            BrokerSearch.start(broker, channels: channels) { found in
                handle.post(.brokersFound(role, number: number, found))
            }
        }
    }

    func makeRoutes() -> [Route] {
        settings.routes.enumerated().map { position, own in makeRoute(own, at: position) }
    }

    /// Makes a route that consumes nothing yet.
    func makeRoute(_ own: LaneSettings.RouteSettings, at position: Int) -> Route {
        let surroundings = Route.Surroundings(
            lane: settings.index, policy: settings.policy, publisher: publisher, replyPattern: settings.replyPattern,
            journal: journal, earlier: settings.journal, resultsBatch: own.resultsBatch, memory: settings.memory,
            tell: settings.tell, open: { [unowned self] in open($1, of: $0) })
        let credential = own.credential.map {
            RouteCredential(
                name: $0, newest: settings.credentials.current($0), unusable: settings.credentials.unusable($0),
                mismatch: own.mismatch)
        }
        let route = Route(
            name: own.name, number: own.number, position: position, queues: own.queues, claim: own.claim,
            credit: RouteCredit(
                fixed: settings.prefetch, rate: own.rate?.perLane,
                part: own.takesHighFirst ? HighFirst.normalShare : 1),
            shared: own.shared,
            rate: own.rate, credential: credential, surroundings: surroundings,
            devices: Destination(
                .devices, connector: own.connector, idleTime: settings.idle, takesHighFirst: own.takesHighFirst),
            broadcastHosts: own.broadcastHosts)
        sayUnfit(route)
        return route
    }

    /// Gives a destination connections, with the credential that the route's pushes use.
    private func open(_ destination: Destination, of route: Route) {
        guard let connector = destination.connector, let credentials = route.openingCredentials else { return }
        let own = settings.routes[route.position]
        let isForBroadcastChannels = destination.isForBroadcastChannels
        var configuration = settings.pool
        configuration.connections = isForBroadcastChannels ? .fixed(1) : own.connections
        configuration.omitsOnlyTopic = own.omitsTopic && !isForBroadcastChannels
        let events = DestinationEvents(lane: self, route: route, destination: destination, connector: connector)
        let pool = APNSPool(
            configuration: configuration, loop: loop, endpoint: connector.endpoint,
            credential: credentials.present, delegate: events)
        destination.open(pool, events: events)
        pool.keepSpare(credentials.spare)
        // The newest version is proved on a connection of its own, if another one is in use.
        pool.offer(credentials.newest, now: now)
    }
}

extension LaneSettings.RouteSettings {
    /// Whether jobs of class `high` have a queue of their own, and go first.
    fileprivate var takesHighFirst: Bool { queues.contains(TopologyNames.highJobQueue(route: name)) }

    /// New destinations for jobs about broadcast channels, as far as the configuration names hosts for them.
    fileprivate var broadcastHosts: [Destination] {
        let connectors = [(Destination.Kind.broadcast, broadcastConnector), (.management, managementConnector)]
        return connectors.compactMap { kind, connector in
            connector.map { Destination(kind, connector: $0, takesHighFirst: takesHighFirst) }
        }
    }
}
