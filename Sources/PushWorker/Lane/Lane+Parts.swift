internal import APNSClient
internal import BrokerClient
internal import EventLoop
internal import Glibc
internal import PushModel
internal import RabbitMQ

// How a lane puts itself together.
extension Lane {
    func makePublisher() -> Publisher {
        Publisher(
            link: { [unowned self] in publishLink },
            renderer: PublicationRenderer(
                tiers: settings.tierNames, routes: settings.routes.map { $0.claim == nil ? nil : $0.name },
                worker: settings.instance, includesDeviceToken: settings.includesDeviceToken),
            patience: ConfirmPatience(usual: settings.confirmPatience.wholeNanoseconds),
            heldUpLimit: settings.heldUpLimit,
            isNoted: { [journal] note in journal?.mayPublish(note) ?? true },
            fate: { [unowned self] publication, fate in
                let route = publication.route
                if let rejected = route.published(publication, fate, now: now) {
                    route.owedAcknowledgements.append(.reject(rejected))
                }
                mark(route)
            })
    }

    func makeLink(_ role: BrokerRole) -> BrokerLink {
        let delegate: any BrokerLinkDelegate = role == .consume ? consumeEvents : publishEvents
        let identity = BrokerLink.Identity(
            name: "\(settings.instance) lane \(settings.index) \(role.rawValue)", version: settings.version)
        return BrokerLink(
            role: role, identity: identity, loop: loop, delegate: delegate, now: now,
            // Jobs that are delivered before results can go out only wait here.
            mayConnect: { [unowned self] in role == .publish || publishLink.session != nil }
        ) { [settings, handle] role, number in
            NameLookup.run(name: "martlet-amqp") {
                Self.findBrokers(settings)
            } deliver: { result in
                let found: Result<[BrokerTarget], AMQPError> =
                    switch result {
                    case .success(let found): found
                    case .failure(let error): .failure(AMQPError(.unresolved, error.message))
                    }
                handle.post(.brokersFound(role, number: number, found))
            }
        }
    }

    /// Finds the addresses of all brokers, in random order of the brokers; on a helper thread.
    private static func findBrokers(_ settings: LaneSettings) -> Result<[BrokerTarget], AMQPError> {
        var failure = AMQPError(.invalidURI, "no broker is configured")
        var targets: [BrokerTarget] = []
        do throws(AMQPError) {
            for var endpoint in try settings.broker.endpoints().shuffled() {
                endpoint.channelMax = max(endpoint.channelMax, settings.routeCount + 8)
                // One broker whose name is unknown does not stand in front of the others.
                do throws(AMQPError) { targets += try BrokerTarget.find(endpoint) } catch { failure = error }
            }
        } catch {
            failure = error
        }
        return targets.isEmpty ? .failure(failure) : .success(targets)
    }

    func makeRoutes() -> [Route] {
        let surroundings = Route.Surroundings(
            policy: settings.policy, publisher: publisher,
            replyPattern: settings.replyPattern, journal: journal, earlier: settings.journal)
        return settings.routes.enumerated().map { position, route in
            let made = Route(
                name: route.name, position: position, queues: route.queues, claim: route.claim,
                credit: RouteCredit(fixed: settings.prefetch, rate: route.rate), rate: route.rate,
                surroundings: surroundings, channelHosts: route.channelHosts)
            if let connector = route.connector, let name = route.credential,
                let credential = settings.credentials.current(name)
            {
                let events = PoolEvents(lane: self, route: made, connector: connector)
                var configuration = APNSPoolConfiguration(
                    requestTimeout: settings.requestTimeout, connections: route.connections)
                configuration.omitsOnlyTopic = route.omitsTopic
                configuration.pingInterval = settings.pingInterval
                made.pool = APNSPool(
                    configuration: configuration, loop: loop, endpoint: connector.endpoint, credential: credential,
                    delegate: events)
                made.credential = RouteCredential(name: name)
                made.poolEvents = events
                made.breaker = RouteBreaker(isConnected: false)
            }
            return made
        }
    }
}

extension LaneSettings.RouteSettings {
    /// New hosts for jobs about channels, as far as the configuration names them.
    fileprivate var channelHosts: [ChannelHost] {
        let connectors = [(ChannelHost.Kind.broadcast, broadcastConnector), (.management, managementConnector)]
        return connectors.compactMap { kind, connector in connector.map { ChannelHost(kind: kind, connector: $0) } }
    }
}

/// Runs one blocking call on a thread of its own.
enum HelperThread {
    /// Starts the call; `orElse` is called instead when the system has no thread left.
    static func run(
        _ name: String, _ body: @escaping @Sendable () -> Void, orElse: (EventLoopError) -> Void
    ) {
        do throws(EventLoopError) {
            // Not joined: a thread that nobody joins cleans up after itself.
            _ = try LoopThread.start(name: name) { body() }
        } catch {
            orElse(error)
        }
    }
}
