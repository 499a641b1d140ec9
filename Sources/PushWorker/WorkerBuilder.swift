import APNSClient
import PushModel
import RabbitMQ
import TLS
import Text
import Topology
import WorkerSettings

/// Turns a checked configuration into the settings of the lane.
package struct WorkerBuilder {
    /// The worker's configuration.
    let configuration: WorkerConfiguration
    private let version: String
    private let credentials: CredentialStore

    /// Takes the configuration; `lane(_:)` does the work.
    init(configuration: WorkerConfiguration, version: String, credentials: CredentialStore) {
        self.configuration = configuration
        self.version = version
        self.credentials = credentials
    }

    /// The roots of trust for APNs' certificates: the system's, and those of the configured file.
    static func trust(_ apns: APNSConfiguration) -> TrustRoots {
        TrustRoots(systemRoots: true, files: apns.trustFile.map { [$0] } ?? [])
    }

    /// The settings of the lane.
    ///
    /// - Parameter maker: Makes what the lane is told about a route.
    func lane(_ maker: RouteMaker) throws(WorkerError) -> LaneSettings {
        var lane = try template()
        var unrouted = LaneSettings.RouteSettings(name: Self.unrouted, queues: Self.unroutedQueues)
        unrouted.number = configuration.routes.count
        unrouted.resultsBatch = configuration.results.batch
        lane.routes = [unrouted]
        let table = configuration.routesTable
        for (number, route) in configuration.routes.enumerated() {
            lane.routes.append(
                try maker.settings(of: route, number: number, claim: RouteClaim(table: table, index: number)))
        }
        let queues = lane.routes.reduce(0) { $0 + $1.queues.count }
        lane.memory = SharedMemoryBudget(bytes: configuration.jobMemory, queues: queues)
        return lane
    }

    /// The name of the route that answers jobs nobody claims.
    package static let unrouted = "unrouted"
    /// Its queues: the one for retries first.
    static let unroutedQueues = [TopologyNames.unroutedReturnQueue, TopologyNames.unroutedJobsQueue]

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
            routes: [], routeCount: configuration.routes.count, credentials: credentials,
            instance: configuration.instance, broker: configuration.broker,
            policy: retry.policy, tierNames: retry.tierNames, version: version,
            jobsFrom: configuration.jobsFrom, replyPattern: pattern,
            includesDeviceToken: configuration.results.deviceToken == .full,
            resultsQueues: configuration.results.queues,
            prefetch: configuration.prefetch.fixedValue,
            pool: APNSPoolConfiguration(
                requestTimeout: configuration.apns.requestTimeout, pingInterval: configuration.apns.pingInterval),
            idle: configuration.apns.idle, wantsJournal: configuration.journal != nil)
    }
}

extension AutomaticOr {
    /// The value as written; nil for automatic.
    var fixedValue: Value? {
        if case .fixed(let value) = self { return value }
        return nil
    }
}
