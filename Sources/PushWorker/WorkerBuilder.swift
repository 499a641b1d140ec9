import APNSClient
import PushModel
import RabbitMQ
import TLS
import Text
import Topology
import WorkerSettings

/// Turns a checked configuration into what each lane is told.
struct WorkerBuilder {
    /// What the worker was told.
    let configuration: WorkerConfiguration
    private let version: String
    private let credentials: CredentialStore

    /// Takes the configuration; `lanes()` does the work.
    init(configuration: WorkerConfiguration, version: String, credentials: CredentialStore) {
        self.configuration = configuration
        self.version = version
        self.credentials = credentials
    }

    /// Who may vouch for APNs.
    static func trust(_ configuration: WorkerConfiguration) -> TrustRoots {
        TrustRoots(systemRoots: true, files: configuration.apns.trustFile.map { [$0] } ?? [])
    }

    /// The settings of all lanes. A lane without a route is left out: it would do nothing, with two connections to the
    /// broker.
    func lanes() throws(WorkerError) -> [LaneSettings] {
        let count = max(1, configuration.lanes.fixedValue ?? LaneCount.automatic())
        let template = try template()
        var lanes = (0..<count).map { index in
            var settings = template
            settings.index = index
            return settings
        }
        lanes[0].routes = [
            LaneSettings.RouteSettings(
                name: Self.unrouted, queues: [TopologyNames.unroutedReturnQueue, TopologyNames.unroutedJobsQueue])
        ]
        let assignment = LaneAssignment(lanes: count, routes: configuration.routes.count)
        for (route, settings) in zip(configuration.routes, try routes()) {
            let shares = assignment.shares(of: route.name, lanes: route.lanes, connections: route.connections)
            let shared = SharedRouteState(lanes: shares.map(\.lane))
            let rate = route.rate.map { SharedRate(perSecond: $0, lanes: shares.count) }
            for share in shares {
                var here = settings
                here.connections = share.connections
                here.rate = rate
                here.shared = shared
                lanes[share.lane].routes.append(here)
            }
        }
        let queues = lanes.reduce(0) { $0 + $1.routes.reduce(0) { $0 + $1.queues.count } }
        let memory = SharedMemoryBudget(bytes: configuration.jobMemory, queues: queues)
        for index in lanes.indices { lanes[index].memory = memory }
        return lanes.filter { !$0.routes.isEmpty }
    }

    /// The name of the route that answers jobs nobody claims.
    static let unrouted = "unrouted"

    private func template() throws(WorkerError) -> LaneSettings {
        let retry = configuration.retry
        let pattern: ReplyPattern
        do {
            pattern = try ReplyPattern(configuration.repliesAllow)
        } catch {
            throw WorkerError(message: "replies.allow: \(error.message)")
        }
        do {
            _ = try configuration.broker.endpoints()
        } catch {
            throw WorkerError(message: "broker.uri: \(error.message)")
        }
        return LaneSettings(
            index: 0, routes: [], routeCount: configuration.routes.count, credentials: credentials,
            instance: configuration.instance, broker: configuration.broker,
            policy: RetryPolicy(
                tiers: retry.tiers.map(\.wholeMilliseconds), maxAttempts: retry.maxAttempts,
                maxAge: retry.maxAge.wholeMilliseconds),
            tierNames: retry.tiers.map { DurationText.write($0) }, version: version, replyPattern: pattern,
            includesDeviceToken: configuration.results.deviceToken == .full,
            resultsQueues: configuration.results.queues,
            prefetch: configuration.prefetch.fixedValue, requestTimeout: configuration.apns.requestTimeout,
            pingInterval: configuration.apns.pingInterval, idle: configuration.apns.idle,
            wantsJournal: configuration.journal != nil)
    }

    /// The configured routes, in their order, as they are on any lane.
    private func routes() throws(WorkerError) -> [LaneSettings.RouteSettings] {
        let table = configuration.routesTable
        let context = try trust()
        let limiter = ConnectRateLimiter(
            ConnectRateLimiter.Limits(
                hostInterval: .seconds(1 / configuration.apns.connectRate), hostBurst: configuration.apns.connectBurst))
        var routes: [LaneSettings.RouteSettings] = []
        for (index, route) in configuration.routes.enumerated() {
            let (endpoint, proxy) = try place(
                configuration.apns.address(of: route.environment), "apns", route.environment)
            let high = route.highLane ? [TopologyNames.highJobQueue(route: route.name)] : []
            routes.append(
                LaneSettings.RouteSettings(
                    name: route.name,
                    queues: [
                        TopologyNames.returnQueue(route: route.name), TopologyNames.jobQueue(route: route.name),
                    ] + high,
                    claim: RouteClaim(table: table, index: index),
                    connector: APNSConnector(endpoint: endpoint, trust: context, limiter: limiter, proxy: proxy),
                    credential: route.credential,
                    mismatch: { credential in
                        let reason = credential.certificate?.mismatch(
                            topics: route.topics, environment: route.environment, omitsTopic: route.omitTopic)
                        return reason.map { "the certificate \($0)" }
                    }, omitsTopic: route.omitTopic))
            try addChannelConnectors(to: &routes[routes.count - 1], of: route, trust: context, limiter: limiter)
        }
        return routes
    }

    /// Where an address leads, and through which proxy.
    ///
    /// - Parameters:
    ///   - address: What the configuration says.
    ///   - setting: Its key there, without the environment.
    ///   - environment: Whose address it is.
    /// - Throws: `WorkerError` where the address, or that of the proxy, cannot be read.
    func place(
        _ address: String, _ setting: String, _ environment: APNSEnvironment
    ) throws(WorkerError) -> (APNSEndpoint, HTTPProxy?) {
        do throws(APNSClientError) {
            let endpoint = try APNSEndpoint.parse(address)
            return (endpoint, try configuration.apns.proxy(for: endpoint))
        } catch {
            throw WorkerError(message: "\(setting).\(environment.rawValue): \(error.message)")
        }
    }

    private func trust() throws(WorkerError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext.client(
                trust: Self.trust(configuration), identity: nil, applicationProtocols: ["h2"])
        } catch {
            throw WorkerError(message: "apns.trust_file: \(error.message)")
        }
    }
}

extension AutomaticOr {
    /// The value as written; nil for automatic.
    var fixedValue: Value? {
        if case .fixed(let value) = self { return value }
        return nil
    }
}
