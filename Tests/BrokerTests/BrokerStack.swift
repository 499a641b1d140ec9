import APNSSimulator
import BrokerClient
import Foundation
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Synchronization
import TLS
import Topology
import WorkerSettings

/// A virtual host with the contract's objects, a local APNs, and a configuration for workers in this process.
final class BrokerStack: Sendable {
    /// A route of the stack.
    struct App: Sendable {
        var route: String
        var topic: String
        var environment = "development"
        /// `local`, or `stranger`, whose key APNs does not know.
        var credential = "local"
        /// Requests per second; nil for as many as there are.
        var rate: Int?
        /// Whether jobs of class `high` go first.
        var highLane = false
        /// The queue that gets a copy of its results; nil for none.
        var resultsQueue: String?
    }

    let virtualHost: String
    let broker: PrivateBroker
    let simulator: RunningSimulator
    let configuration: WorkerConfiguration
    private let directory: TemporaryDirectory
    /// Held for an import of definitions: they go through one file of the broker's directory, and suites start side by
    /// side.
    static let importing = Mutex(())

    private init(
        virtualHost: String, broker: PrivateBroker, simulator: RunningSimulator, configuration: WorkerConfiguration,
        directory: TemporaryDirectory
    ) {
        self.virtualHost = virtualHost
        self.broker = broker
        self.simulator = simulator
        self.configuration = configuration
        self.directory = directory
    }

    /// Makes everything but a worker.
    ///
    /// - Parameters:
    ///   - virtualHost: Its name, different for each stack.
    ///   - apps: The routes.
    ///   - tiers: The delays of the retry tiers, in milliseconds.
    ///   - apns: The `apns` section of the configuration; nil for the simulator.
    ///   - production: Where production is, where that is not the simulator.
    ///   - requestTimeout: How long an answer of APNs is awaited.
    ///   - credentials: More lines of `credentials`.
    ///   - ownBroker: A broker of the test's own, to be stopped and started; nil for the one that all suites share.
    ///   - scenario: What the local APNs does.
    ///   - sendsDate: Whether the local APNs' answers tell the time.
    ///   - settings: More lines of configuration.
    static func start(
        _ virtualHost: String, apps: [App] = [App(route: "app", topic: "com.example.app")],
        tiers: [Int64] = [2_000, 4_000], apns: String? = nil, production: String? = nil,
        requestTimeout: String = "20s", credentials: String = "", ownBroker: PrivateBroker? = nil,
        scenario: Scenario = Scenario(), sendsDate: Bool = false,
        settings: String = ""
    ) async throws -> BrokerStack {
        let directory = try TemporaryDirectory(prefix: "martlet-ring")
        let key = try ES256PrivateKey.generate()
        let keyFile = try directory.write(key.pem, to: "AuthKey_MARTLET001.p8")
        let strangersFile = try directory.write(try ES256PrivateKey.generate().pem, to: "AuthKey_STRANGER01.p8")
        var simulating = SimulatorConfiguration(stateDirectory: try directory.makeDirectory("simulator"))
        simulating.keys = [ProviderKey(keyID: "MARTLET001", teamID: "MARTLETDEV", publicKey: key.publicKey)]
        simulating.scenario = scenario
        simulating.sendsDate = sendsDate
        let simulator = try await APNSSimulator.start(simulating)
        let address = "https://localhost:\(simulator.port)"
        let simulated = """
            { production: "\(production ?? address)", development: "\(address)", trust_file: "\(simulator.authorityFile)", \
            request_timeout: \(requestTimeout) }
            """
        let broker = try ownBroker ?? RingBroker.broker.get()
        let routes = apps.map { app in
            "  - { name: \(app.route), environment: \(app.environment), topics: [\(app.topic)], "
                + "credential: \(app.credential)\(app.rate.map { ", rate: \($0)" } ?? "")"
                + "\(app.highLane ? ", high_lane: true" : "")"
                + "\(app.resultsQueue.map { ", results_queue: \($0)" } ?? "") }"
        }
        let file = try directory.write(
            """
            instance: ring
            broker: { uri: "\(broker.uri)\(virtualHost)" }
            apns: \(apns ?? simulated)
            credentials:
              - { name: local, kind: token, key_file: "\(keyFile)", key_id: MARTLET001, team_id: MARTLETDEV }
              - { name: stranger, kind: token, key_file: "\(strangersFile)", key_id: STRANGER01, team_id: MARTLETDEV }
            \(credentials)
            routes:
            \(routes.joined(separator: "\n"))
            retry: { tiers: [\(tiers.map { "\($0 / 1_000)s" }.joined(separator: ", "))] }
            \(settings)

            """, to: "martlet.yaml")
        let configuration = try ConfigurationLoader.load(file: file, environment: [:]).get()
        let stack = BrokerStack(
            virtualHost: virtualHost, broker: broker, simulator: simulator, configuration: configuration,
            directory: directory)
        try stack.apply(configuration)
        return stack
    }

    /// Makes what the broker lacks for a configuration.
    func apply(_ configuration: WorkerConfiguration) throws {
        let topology = configuration.topology(virtualHost: virtualHost)
        let definitions = try Self.granting(topology.definitions(), to: "guest", on: virtualHost)
        try Self.importing.withLock { _ in try broker.importDefinitions(json: definitions) }
    }

    /// Adds all permissions on a virtual host to a definitions file.
    private static func granting(_ definitions: String, to user: String, on virtualHost: String) throws -> [UInt8] {
        guard var object = try JSONSerialization.jsonObject(with: Data(definitions.utf8)) as? [String: Any] else {
            throw RingFailure("the definitions are not a JSON object")
        }
        object["permissions"] = [
            ["user": user, "vhost": virtualHost, "configure": ".*", "write": ".*", "read": ".*"]
        ]
        return [UInt8](try JSONSerialization.data(withJSONObject: object))
    }

    /// Where clients of the virtual host connect.
    var uri: String { "\(broker.uri)\(virtualHost)" }

    /// A client of the virtual host.
    func connect() throws -> AMQPBlockingClient {
        try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: uri), clientName: "ring")
    }

    /// Starts a worker; nothing waits until it consumes.
    func startWorker() throws -> LiveWorker { try LiveWorker(configuration) }

    /// Waits until every queue of jobs and every retry tier is empty with nothing unacknowledged, as the queues
    /// themselves say.
    ///
    /// - Returns: What is left after half a minute; empty when all is well.
    func leftovers(except exempt: Set<String> = []) throws -> [String: QueueCounts] {
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while true {
            let left = try broker.queueCounts(virtualHost: virtualHost).filter { name, counts in
                (name.hasPrefix("apns.q.jobs.") || name.hasPrefix("apns.q.retry.")) && counts.total > 0
                    && !exempt.contains(name)
            }
            if left.isEmpty || ContinuousClock.now > deadline { return left }
            Self.pause()
        }
    }

    /// Lets others work before the next question.
    static func pause() { poll(nil, 0, 50) }

    /// Waits until APNs has this many pushes to device tokens that begin with some digits.
    func awaitPushes(_ count: Int, to prefix: String = "") throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while true {
            let pushes = simulator.ledger.records().count { $0.token.hasPrefix(prefix) }
            if pushes >= count { return }
            guard ContinuousClock.now < deadline else { throw RingFailure("APNs got \(pushes) of \(count) pushes") }
            Self.pause()
        }
    }

    /// Waits until a worker's readiness is as wanted, whether the broker answers or not.
    func readiness(
        of worker: LiveWorker, until isWanted: (WorkerReadiness) -> Bool
    ) throws -> WorkerReadiness {
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while true {
            let readiness = worker.worker.readiness()
            if isWanted(readiness) { return readiness }
            guard ContinuousClock.now < deadline else {
                throw RingFailure("reasons: \(readiness.reasons), routes: \(readiness.routes)")
            }
            Self.pause()
        }
    }

    /// How many jobs of a route wait in its queues, and of all routes in the tiers.
    func waitingJobs(of route: String, _ number: (QueueCounts) -> Int) throws -> Int {
        try broker.queueCounts(virtualHost: virtualHost).reduce(0) { sum, queue in
            let isWanted = queue.key.hasPrefix("apns.q.jobs.\(route)") || queue.key.hasPrefix("apns.q.retry.")
            return isWanted ? sum + number(queue.value) : sum
        }
    }

    /// Waits until the state of a worker's route is as wanted.
    func route(
        _ name: String, of worker: LiveWorker, until isWanted: (WorkerReadiness.Route) -> Bool
    ) throws -> WorkerReadiness.Route {
        var found: WorkerReadiness.Route?
        _ = try readiness(of: worker) { readiness in
            found = readiness.routes.first { $0.name == name && isWanted($0) }
            return found != nil
        }
        guard let found else { throw RingFailure("no route \(name)") }
        return found
    }

    /// Runs a script of `Fixtures` with Debian's Python, whose pika is a client that is not ours.
    ///
    /// - Returns: What it printed.
    func python(_ script: String, input: String = "", timeout: Duration = .seconds(45)) throws -> String {
        let outcome = try ChildProcess.run(
            "/usr/bin/python3", [try Fixtures.path(script), uri], input: Array(input.utf8), timeout: timeout)
        guard outcome.status == 0 else { throw RingFailure("\(script): \(outcome.errorText)") }
        return outcome.text
    }
}
