internal import APNSClient
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
        return BrokerLink(role: role, loop: loop, delegate: delegate, now: now) { [settings, handle] role in
            HelperThread.run("martlet-amqp") {
                let result = Self.connect(role, settings)
                handle.post(.brokerConnected(role, Transfer(result)))
            } orElse: { error in
                handle.post(.brokerConnected(role, Transfer(.failure(AMQPError(.library, error.message)))))
            }
        }
    }

    /// Tries the brokers in random order; on a helper thread.
    private static func connect(_ role: BrokerRole, _ settings: LaneSettings) -> Result<AMQPConnection, AMQPError> {
        var failure = AMQPError(.invalidURI, "no broker is configured")
        for endpoint in settings.endpoints.shuffled() {
            do throws(AMQPError) {
                let connection = try AMQPConnection.open(
                    endpoint, clientName: "\(settings.instance) lane \(settings.index) \(role.rawValue)",
                    clientVersion: settings.version, bodyLimit: JobDecoder.maximumBodyLength,
                    receiveLimit: role == .consume ? 1 << 20 : 0)
                connection.disown()
                return .success(connection)
            } catch {
                failure = error
            }
        }
        return .failure(failure)
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

/// Runs one blocking call on a thread of its own, with the stack that rabbitmq-c's recursive decoding may need.
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
