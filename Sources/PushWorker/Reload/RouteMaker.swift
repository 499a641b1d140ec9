import APNSClient
import PushModel
import TLS
import Topology
import WorkerSettings

/// Makes the settings of a route for the lane, at the start of the worker and later.
struct RouteMaker: Sendable {
    private let apns: APNSConfiguration
    private let resultsBatch: Int
    private let trust: TLSContext
    /// All routes share the limiter, because they connect to the same hosts.
    private let limiter: ConnectRateLimiter

    /// Reads the roots of trust.
    ///
    /// - Parameters:
    ///   - apns: How APNs is reached. This does not change while the worker runs.
    ///   - resultsBatch: The most results in one message, of routes that say nothing else.
    /// - Throws: `WorkerError` where the file with further roots cannot be used.
    init(_ apns: APNSConfiguration, resultsBatch: Int = 1) throws(WorkerError) {
        let trust: TLSContext
        do throws(TLSError) {
            trust = try TLSContext.client(
                trust: WorkerBuilder.trust(apns), identity: nil, applicationProtocols: ["h2"])
        } catch {
            throw WorkerError(message: "apns.trust_file: \(error.message)")
        }
        self.init(apns, trust: trust, resultsBatch: resultsBatch)
    }

    /// Takes roots of trust that were read before.
    init(_ apns: APNSConfiguration, trust: TLSContext, resultsBatch: Int = 1) {
        self.apns = apns
        self.trust = trust
        self.resultsBatch = resultsBatch
        limiter = ConnectRateLimiter(
            ConnectRateLimiter.Limits(hostInterval: .seconds(1 / apns.connectRate), hostBurst: apns.connectBurst))
    }

    /// What the lane is told about a route.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - number: Its number in the worker.
    ///   - claim: The jobs that may arrive in its queues, beside the claims of the worker's other routes.
    ///   - earlier: What the route knew of dead tokens before its configuration changed; nil for nothing.
    /// - Throws: `WorkerError` where an address of APNs cannot be read.
    func settings(
        of route: RouteConfiguration, number: Int, claim: RouteClaim, after earlier: SharedDeadTokens? = nil
    ) throws(WorkerError) -> LaneSettings.RouteSettings {
        var settings = try settings(of: route)
        settings.number = number
        settings.claim = claim
        settings.deadTokens = SharedDeadTokens(after: earlier)
        settings.resultsBatch = route.resultsBatch ?? resultsBatch
        settings.highShare = route.highShare
        settings.rate = route.rate
        settings.connections =
            route.connections.fixedValue.map { .fixed($0) }
            ?? .automatic(maximum: APNSPoolConfiguration.automaticMaximum)
        return settings
    }

    private func settings(of route: RouteConfiguration) throws(WorkerError) -> LaneSettings.RouteSettings {
        let high = route.highLane ? [TopologyNames.highJobQueue(route: route.name)] : []
        return LaneSettings.RouteSettings(
            name: route.name,
            queues: [TopologyNames.returnQueue(route: route.name), TopologyNames.jobQueue(route: route.name)] + high,
            connector: try connector(apns.address(of: route.environment), "apns", route.environment),
            credential: route.credential,
            mismatch: { credential in
                let reason = credential.certificate?.mismatch(
                    topics: route.topics, environment: route.environment, omitsTopic: route.omitTopic)
                return reason.map { "the certificate \($0)" }
            }, omitsTopic: route.omitTopic,
            broadcastConnector: try connector(
                apns.broadcast.address(of: route.environment), Destination.Kind.broadcast.setting, route.environment),
            managementConnector: try connector(
                apns.broadcastChannels.address(of: route.environment), Destination.Kind.management.setting,
                route.environment))
    }

    /// The connector to a host; nil if the configuration names none.
    ///
    /// - Parameters:
    ///   - address: The address in the configuration.
    ///   - setting: The address's key there, without the environment.
    ///   - environment: The environment to which the address belongs.
    private func connector(
        _ address: String?, _ setting: String, _ environment: APNSEnvironment
    ) throws(WorkerError) -> APNSConnector? {
        guard let address else { return nil }
        do throws(APNSClientError) {
            let endpoint = try APNSEndpoint.parse(address)
            return APNSConnector(
                endpoint: endpoint, trust: trust, limiter: limiter, proxy: try apns.proxy(for: endpoint))
        } catch {
            throw WorkerError(message: "\(setting).\(environment.rawValue): \(error.message)")
        }
    }
}
