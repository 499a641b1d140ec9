import APNSClient
import EventLoop
import LocalStack
import Synchronization
import TLS
import Topology
import WorkerSettings

@testable import PushWorker

/// The configuration of a world's workers, and what each life of a worker is made of.
// Immutable. What lanes would share is made anew for each.
final class Blueprint: @unchecked Sendable {
    /// The configuration.
    let configuration: WorkerConfiguration
    private let template: LaneSettings
    private let directory: TemporaryDirectory
    private let trust = WorldParts.shared.trust
    private let context: TLSContext

    /// Reading takes a tenth of a short world's time, so each configuration is read once.
    private static let known = Mutex<[String: Blueprint]>([:])

    /// The blueprint of a configuration.
    ///
    /// - Parameter yaml: The configuration. The key of its credentials is `key.p8`, beside it.
    static func of(_ yaml: String) throws -> Blueprint {
        try known.withLock { known in
            if let blueprint = known[yaml] { return blueprint }
            let blueprint = try Blueprint(yaml)
            known[yaml] = blueprint
            return blueprint
        }
    }

    private init(_ yaml: String) throws {
        directory = try TemporaryDirectory(prefix: "martlet-world")
        try directory.write(try ES256PrivateKey.generate().pem, to: "key.p8")
        let file = try directory.write(yaml, to: "martlet.yaml")
        configuration = try ConfigurationLoader.load(file: file, environment: [:]).get()
        context = try TLSContext.client(trust: trust, identity: nil, applicationProtocols: ["h2"])
        let store = try CredentialStore(configuration.credentials, trust: trust)
        template = try WorkerBuilder(configuration: configuration, version: "simulated", credentials: store)
            .lanes(RouteMaker(configuration.apns))[0]
    }

    deinit { directory.remove() }

    /// The settings of a new process. Nothing in them is shared with another one.
    func settings(worker: String) throws -> LaneSettings {
        var settings = template
        settings.instance = worker
        // A true signature is random, and its length on the wire varies.
        settings.credentials = try CredentialStore(
            configuration.credentials, trust: trust, standIn: { _ in [UInt8](repeating: 7, count: 64) })
        let queues = settings.routes.reduce(0) { $0 + $1.queues.count }
        settings.memory = SharedMemoryBudget(bytes: configuration.jobMemory, queues: queues)
        let limiter = ConnectRateLimiter()
        for index in settings.routes.indices {
            settings.routes[index].shared = SharedRouteState()
            let route = configuration.routes.first { $0.name == settings.routes[index].name }
            settings.routes[index].rate = route?.rate.map { SharedRate(perSecond: $0, lanes: 1) }
            guard settings.routes[index].connector != nil else { continue }
            settings.routes[index].connector = APNSConnector(
                endpoint: APNSEndpoint(host: "localhost", port: 443), trust: context, limiter: limiter)
        }
        return settings
    }
}
