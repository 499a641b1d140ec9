import APNSClient
import RabbitMQ
import Text
import Topology
import WorkerSettings

// The parts of a lane, as far as its settings decide on them.
extension LaneSettings {
    /// Writes what the lane publishes.
    var renderer: PublicationRenderer {
        PublicationRenderer(
            tiers: tierNames, routes: routes.map { $0.claim == nil ? nil : $0.name }, worker: instance,
            includesDeviceToken: includesDeviceToken, resultsQueues: resultsQueues)
    }

    /// The identity of a connection, which operators see at the broker.
    ///
    /// - Parameter role: What the connection is for.
    /// - Returns: The identity of the connection.
    func identity(_ role: BrokerLink.Role) -> BrokerLink.Identity {
        // The number is always 0: operators know the name.
        BrokerLink.Identity(name: "\(instance) lane 0 \(role.rawValue)", version: version)
    }

    /// After how many milliseconds without a turn the connections to the broker count as lost. By then the broker has
    /// missed two heartbeats, and may have given all deliveries to others.
    ///
    /// - Parameter negotiated: The heartbeats of the open connections, in seconds; 0 for a connection without
    ///   heartbeats. If no value is above 0, the heartbeats of the configuration count, and without any, 60 s.
    /// - Returns: Milliseconds: two of the shortest heartbeats, unless `standstill` is set.
    func longestStandstill(negotiated: [Int] = []) -> Int64 {
        if let standstill { return standstill.wholeMilliseconds }
        if let shortest = negotiated.filter({ $0 > 0 }).min() { return Int64(shortest) * 2_000 }
        let endpoints = (try? broker.endpoints()) ?? []
        let heartbeats = endpoints.map(\.heartbeat).filter { $0 > 0 }
        return Int64(heartbeats.min() ?? 60) * 2_000
    }

    /// Makes a route that consumes nothing yet.
    ///
    /// - Parameters:
    ///   - own: What the lane is told about the route.
    ///   - position: The route's position on the lane.
    ///   - surroundings: What it needs from the lane.
    /// - Returns: The route.
    func makeRoute(_ own: RouteSettings, at position: Int, in surroundings: RouteSurroundings) -> Route {
        let credential = own.credential.map {
            RouteCredential(
                name: $0, newest: credentials.current($0), unusable: credentials.unusable($0), mismatch: own.mismatch)
        }
        return Route(
            name: own.name, number: own.number, position: position, queues: own.queues, claim: own.claim,
            credit: RouteCredit(
                fixed: prefetch, rate: own.rate, part: own.takesHighFirst ? HighFirst.normalShare : 1),
            deadTokens: own.deadTokens, rate: own.rate.map { SendingRate(perSecond: $0) }, credential: credential,
            surroundings: surroundings,
            devices: Destination(
                .devices, connector: own.connector, idleTime: idle, highShare: own.shareThatHighHas),
            broadcastHosts: own.broadcastHosts)
    }

    /// How the connections to a destination behave.
    ///
    /// - Parameters:
    ///   - destination: The destination.
    ///   - position: The position of its route.
    /// - Returns: The configuration of its pool.
    func pool(of destination: Destination, ofRoute position: Int) -> APNSPoolConfiguration {
        let own = routes[position]
        let isForBroadcastChannels = destination.isForBroadcastChannels
        var configuration = pool
        configuration.connections = isForBroadcastChannels ? .fixed(1) : own.connections
        configuration.omitsOnlyTopic = own.omitsTopic && !isForBroadcastChannels
        return configuration
    }
}

extension LaneSettings.RouteSettings {
    /// Whether jobs of class `high` have a queue of their own, and go first.
    fileprivate var takesHighFirst: Bool { queues.contains(TopologyNames.highJobQueue(route: name)) }

    /// How many percent of the requests are kept for `high` jobs; nil if these do not go first.
    fileprivate var shareThatHighHas: Int? { takesHighFirst ? highShare : nil }

    /// New destinations for jobs about broadcast channels, as far as the configuration names hosts for them.
    fileprivate var broadcastHosts: [Destination] {
        let connectors = [(Destination.Kind.broadcast, broadcastConnector), (.management, managementConnector)]
        return connectors.compactMap { kind, connector in
            connector.map { Destination(kind, connector: $0, highShare: shareThatHighHas) }
        }
    }
}
