package import APNSSimulator
package import BrokerClient
import EventLoop
import Glibc
package import LocalStack
package import PushModel
import RabbitMQ
import TLS
import Text
package import Topology

/// A whole Martlet for one user: a private RabbitMQ with Martlet's queues, a local APNs, and workers as processes.
///
/// The demo and the tests that kill workers run on it. `stop()` ends the broker and the simulator, but not the workers.
package final class LocalRun: Sendable {
    /// A route of the run: an app, and the credential it pushes with.
    package struct App: Sendable {
        /// The route's name.
        package var route: String
        /// The bundle identifier.
        package var topic: String
        /// Whether jobs of class `high` have a queue of their own.
        package var highLane: Bool
        /// The environment whose APNs it pushes to.
        package var environment: APNSEnvironment
        /// Whether it pushes with the second key (the credential `own`) instead of the first (`local`).
        package var hasOwnKey: Bool
        /// How many notifications a second a worker may push for it; nil for any number.
        package var rate: Int?

        /// An app from its parts, each as documented there.
        package init(
            route: String, topic: String, highLane: Bool = false, environment: APNSEnvironment = .development,
            hasOwnKey: Bool = false, rate: Int? = nil
        ) {
            self.route = route
            self.topic = topic
            self.highLane = highLane
            self.environment = environment
            self.hasOwnKey = hasOwnKey
            self.rate = rate
        }
    }

    /// The directory for keys, the configuration, the simulator's state and the workers' logs. The broker has another
    /// one.
    package let directory: TemporaryDirectory
    /// The broker.
    package let broker: PrivateBroker
    /// The local APNs, in this process.
    package let simulator: RunningSimulator
    /// The workers' configuration.
    package let configurationFile: String
    /// The apps it pushes for.
    package let apps: [App]

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
    ///
    /// - Parameters:
    ///   - apps: The apps to push for.
    ///   - settings: More lines of configuration, for instance `prefetch: 100`.
    ///   - requestTimeout: How long workers wait for an answer of the simulator.
    ///   - scenario: The simulator's scenario.
    ///   - sendsDate: Whether the simulator's answers say the time.
    ///   - options: What the broker shall offer.
    /// - Returns: The run; call `stop()` in the end.
    /// - Throws: `LocalStackError`, `SimulatorError` or `TLSError` if a part cannot be started. Nothing stays behind
    ///   then.
    package static func start(
        apps: [App], settings: String = "", requestTimeout: Duration = .seconds(30), scenario: Scenario = Scenario(),
        sendsDate: Bool = false, broker options: PrivateBrokerOptions = PrivateBrokerOptions()
    ) async throws -> LocalRun {
        let directory = try TemporaryDirectory(prefix: "martlet-run")
        let key = try ES256PrivateKey.generate()
        let keyFile = try directory.write(key.pem, to: "AuthKey_MARTLET001.p8")
        let otherKey = try ES256PrivateKey.generate()
        let otherFile = try directory.write(otherKey.pem, to: "AuthKey_MARTLET002.p8")
        var simulating = SimulatorConfiguration(stateDirectory: try directory.makeDirectory("simulator"))
        simulating.keys = [
            ProviderKey(keyID: "MARTLET001", teamID: "MARTLETDEV", publicKey: key.publicKey),
            ProviderKey(keyID: "MARTLET002", teamID: "MARTLETDEV", publicKey: otherKey.publicKey),
        ]
        simulating.scenario = scenario
        simulating.sendsDate = sendsDate
        simulating.devices.port = 0
        let simulator = try await APNSSimulator.start(simulating)
        do {
            let broker = try await BlockingWork.run("broker") {
                let broker = try PrivateBroker.start(options)
                try broker.importDefinitions(json: Array(topology(apps).definitions().utf8))
                return broker
            }
            let text = configuration(
                apps: apps, broker: broker, simulator: simulator, keyFiles: [keyFile, otherFile],
                requestTimeout: requestTimeout)
            return LocalRun(
                directory: directory, broker: broker, simulator: simulator,
                configurationFile: try directory.write("\(text)\(settings)\n", to: "martlet.yaml"), apps: apps)
        } catch {
            await simulator.stop()
            throw error
        }
    }

    /// What the broker holds for some apps.
    package static func topology(_ apps: [App]) -> BrokerTopology {
        BrokerTopology(
            routes: apps.map {
                TopologyRoute(
                    name: $0.route, environment: $0.environment, topics: [$0.topic], highLane: $0.highLane)
            },
            tiers: tiers, virtualHost: "/")
    }

    /// The retry tiers and the holding tiers of the default configuration.
    package static let tiers = RetryTier.all(of: RetryPolicy())

    /// The workers' configuration, ending with a line end.
    private static func configuration(
        apps: [App], broker: PrivateBroker, simulator: RunningSimulator, keyFiles: [String],
        requestTimeout: Duration
    ) -> String {
        let routes = apps.map { app in
            "  - { name: \(app.route), environment: \(app.environment.rawValue), topics: [\(app.topic)], "
                + "credential: \(app.hasOwnKey ? "own" : "local"), high_lane: \(app.highLane), "
                + "rate: \(app.rate.map(String.init) ?? "null") }"
        }
        let credentials = zip(["local", "own"], keyFiles).enumerated().map { index, key in
            "  - { name: \(key.0), kind: token, key_file: \"\(key.1)\", key_id: MARTLET00\(index + 1), team_id: MARTLETDEV }"
        }.prefix(apps.contains(where: \.hasOwnKey) ? 2 : 1)
        let address = "https://localhost:\(simulator.port)"
        let management = broker.hasManagement ? ", management: \"\(broker.managementURI)\"" : ""
        return """
            broker: { uri: "\(broker.uri)"\(management) }
            apns:
              production: "\(address)"
              development: "\(address)"
              trust_file: "\(simulator.authorityFile)"
              request_timeout: \(DurationText.write(requestTimeout))
            credentials:
            \(credentials.joined(separator: "\n"))
            routes:
            \(routes.joined(separator: "\n"))
            admin: { listen: "127.0.0.1:0" }

            """
    }

    /// Starts a worker; its log goes to a file in `directory`.
    ///
    /// - Parameters:
    ///   - name: Its instance name.
    ///   - adminPort: The port of its admin server; 0 for any free one.
    ///   - settings: Variables that override its configuration, such as `MARTLET_BROKER_URI`.
    ///   - wrapper: A program and arguments that become the worker, such as `/usr/bin/prlimit --nofile=64`.
    /// - Returns: The process; the caller ends it.
    /// - Throws: `LocalStackError` when it cannot be started.
    package func startWorker(
        _ name: String, adminPort: Int = 0, settings: [String: String] = [:], wrapper: [String] = []
    ) throws -> ChildProcess {
        var environment: [String: String] = [:]
        for variable in ["PATH", "HOME", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        environment["MARTLET_INSTANCE"] = name
        environment["MARTLET_ADMIN_LISTEN"] = "127.0.0.1:\(adminPort)"
        environment.merge(settings) { _, setting in setting }
        let log = ChildProcess.Stream.file(logFile(of: name))
        let command = wrapper + [try Self.executable(), "worker", "--config", configurationFile]
        return try ChildProcess.start(
            command[0], Array(command.dropFirst()), environment: environment, output: log, error: log)
    }

    /// Where a worker's log goes.
    ///
    /// - Parameter name: Its instance name.
    package func logFile(of name: String) -> String { directory.file("\(name).log") }

    /// The `martlet` executable: this very program, or the one beside a test bundle.
    package static func executable() throws -> String {
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
        throw LocalStackError(.system, "the martlet executable is not beside \(own)")
    }

    /// A client of the broker.
    ///
    /// - Parameter name: What operators see in the broker's list of connections.
    package func connect(_ name: String) throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: broker.uri), clientName: name)
    }

    /// Ends the simulator and the broker and removes the directory. The callers of `startWorker` end the workers.
    package func stop() async {
        await simulator.stop()
        _ = try? await BlockingWork.run("broker") { [broker] in broker.stop() }
        directory.remove()
    }
}
