import APNSSimulator
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import TLS

/// A whole Martlet of one's own: a private RabbitMQ with the contract's objects, a local APNs, and workers as processes.
///
/// The demo and the tests that kill workers run on it. Everything ends with `stop()`.
final class LocalRun: Sendable {
    /// A route of the run: an app, and the credential it pushes with.
    struct App: Sendable {
        /// The route's name.
        var route: String
        /// The bundle identifier.
        var topic: String
    }

    /// Where everything is written.
    let directory: TemporaryDirectory
    /// The broker.
    let broker: PrivateBroker
    /// The local APNs, in this process.
    let simulator: RunningSimulator
    /// The workers' configuration.
    let configurationFile: String
    /// The apps it pushes for.
    let apps: [App]

    private init(
        directory: TemporaryDirectory, broker: PrivateBroker, simulator: RunningSimulator, configurationFile: String,
        apps: [App]
    ) {
        self.directory = directory
        self.broker = broker
        self.simulator = simulator
        self.configurationFile = configurationFile
        self.apps = apps
    }

    /// Starts broker and simulator and writes the workers' configuration; no worker runs yet.
    /// - Parameters:
    ///   - apps: The apps to push for, in the development environment.
    ///   - settings: More lines of configuration, for instance `lanes: 1`.
    ///   - scenario: The simulator's scenario.
    static func start(
        apps: [App], settings: String = "", scenario: Scenario = Scenario()
    ) async throws -> LocalRun {
        let directory = try TemporaryDirectory(prefix: "martlet-run")
        let key = try ES256PrivateKey.generate()
        let keyFile = try directory.write(key.pem, to: "AuthKey_MARTLET001.p8")
        var simulating = SimulatorConfiguration(stateDirectory: try directory.makeDirectory("simulator"))
        simulating.keys = [ProviderKey(keyID: "MARTLET001", teamID: "MARTLETDEV", publicKey: key.publicKey)]
        simulating.scenario = scenario
        let simulator = try await APNSSimulator.start(simulating)
        let broker = try PrivateBroker.start()
        let topology = BrokerTopology(
            routes: apps.map { TopologyRoute(name: $0.route, environment: .development, topics: [$0.topic]) },
            tiers: [2_000, 15_000, 60_000, 300_000, 1_800_000].map { RetryTier(milliseconds: $0) }, virtualHost: "/")
        try broker.importDefinitions(json: Array(topology.definitions().utf8))
        let routes = apps.map { app in
            "  - { name: \(app.route), environment: development, topics: [\(app.topic)], credential: local }"
        }
        let address = "https://localhost:\(simulator.port)"
        let configurationFile = try directory.write(
            """
            broker: { uri: "\(broker.uri)" }
            apns: { production: "\(address)", development: "\(address)", trust_file: "\(simulator.authorityFile)" }
            credentials:
              - { name: local, kind: token, key_file: "\(keyFile)", key_id: MARTLET001, team_id: MARTLETDEV }
            routes:
            \(routes.joined(separator: "\n"))
            admin: { listen: "127.0.0.1:0" }
            \(settings)

            """, to: "martlet.yaml")
        return LocalRun(
            directory: directory, broker: broker, simulator: simulator, configurationFile: configurationFile,
            apps: apps)
    }

    /// Starts a worker; its log goes to a file in `directory`.
    /// - Parameter name: Its instance name.
    func startWorker(_ name: String) throws -> ChildProcess {
        var environment: [String: String] = [:]
        for variable in ["PATH", "HOME", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        environment["MARTLET_INSTANCE"] = name
        let log = ChildProcess.Stream.file(directory.file("\(name).log"))
        return try ChildProcess.start(
            try Self.executable(), ["worker", "--config", configurationFile], environment: environment, output: log,
            error: log)
    }

    /// The `martlet` executable: this very program, or the one beside a test bundle.
    private static func executable() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if own.hasSuffix("/martlet") { return own }
        // Under `swift test` this program is the toolchain's runner, and its argument names the bundle.
        for argument in CommandLine.arguments {
            guard let slash = argument.lastIndex(of: "/") else { continue }
            let candidate = argument[..<slash] + "/martlet"
            if access(String(candidate), X_OK) == 0 { return String(candidate) }
        }
        throw CommandFailure(.internalFault, "the martlet executable is not beside \(own)")
    }

    /// A client of the broker.
    func connect(_ name: String) throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: name)
    }

    /// Ends simulator and broker and removes the directory; workers are ended by whoever started them.
    func stop() async {
        await simulator.stop()
        broker.stop()
        directory.remove()
    }
}
