import APNSClient
import LocalStack
import Synchronization
import TLS
import Topology
import WorkerSettings

@testable import PushWorker

/// The configuration of a world's workers, and what each life of a worker is made of.
final class Blueprint: Sendable {
    /// The configuration.
    let configuration: WorkerConfiguration
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
    }

    deinit { directory.remove() }

    /// What a new process is told, and what makes its later routes. Nothing of it is shared with another process.
    ///
    /// - Parameters:
    ///   - worker: The worker's name.
    ///   - routes: The routes that the configuration has now.
    ///   - memory: The memory for jobs, in bytes; nil for what the configuration says.
    func process(
        _ worker: String, routes: [RouteConfiguration], memory: Int?
    ) throws -> (settings: LaneSettings, maker: RouteMaker) {
        var configuration = configuration
        configuration.routes = routes
        if let memory { configuration.jobMemory = memory }
        let store = try CredentialStore(configuration.credentials, trust: trust, standIn: Self.sign)
        let maker = RouteMaker(configuration.apns, trust: context)
        var settings = try WorkerBuilder(configuration: configuration, version: "simulated", credentials: store)
            .lane(maker)
        settings.instance = worker
        return (settings, maker)
    }

    /// A later version of the credential.
    func credential(version: Int) throws -> APNSCredential {
        let credential = configuration.credentials[0]
        return try CredentialMaterial(reading: credential).credential(
            name: credential.name, version: version, trust: trust, standIn: Self.sign)
    }

    /// A true signature is random, and its length on the wire varies.
    private static let sign: ProviderTokenSource.Signature = { _ in [UInt8](repeating: 7, count: 64) }
}
