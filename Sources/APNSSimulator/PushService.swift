import Synchronization
import TLS
import Text

/// What all connections share: configuration, rules, keys, the progress of the scenario and the ledger. Safe from any
/// thread.
final class PushService: Sendable {
    /// The configuration.
    let configuration: SimulatorConfiguration

    /// The rules for requests.
    let rules: PushRules

    /// The known keys and what is revoked.
    let credentials: CredentialRegistry

    /// The time of all rules.
    let clock: VirtualClock

    /// Whether the service is going down: it says goodbye and refuses what still comes.
    private let draining = Atomic(false)
    private let announcing = Atomic(false)

    /// What every device token received.
    let ledger: Ledger

    /// Numbers about the gateway.
    let counters = GatewayCounters()

    /// The connections that are open.
    let connections = ConnectionList()

    /// The device side; nil where the simulator has none.
    let devices: DeviceService?

    /// Which files of the state directory cannot be written at present.
    let health: StorageHealth

    private struct Script {
        var verdicts: VerdictChooser
        var connections: ConnectionChooser
        var limits: GatewayLimits
        var gate = ConnectionGate()
        var throttle = DeviceThrottle()
        /// The same for requests about broadcast channels, counted by app.
        var broadcastChannelThrottle = DeviceThrottle()
    }

    private let script: Mutex<Script>

    /// Makes the shared part of a simulator.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - clock: The time of all rules.
    ///   - devices: The device side.
    ///   - kept: What was revoked before a restart.
    ///   - health: Tells which files cannot be written.
    init(
        configuration: SimulatorConfiguration, clock: VirtualClock = VirtualClock(), devices: DeviceService? = nil,
        kept: KeptControl = KeptControl(), health: StorageHealth = StorageHealth()
    ) {
        self.health = health
        self.clock = clock
        self.devices = devices
        self.configuration = configuration
        rules = PushRules(
            tokenLengths: configuration.tokenLengths, requiresJSONObject: configuration.requiresJSONObject)
        credentials = CredentialRegistry(
            keys: configuration.keys, acceptsAnyWellFormed: configuration.acceptsAnyKey, kept: kept)
        ledger = Ledger(capacity: configuration.ledgerCapacity)
        script = Mutex(Self.script(configuration.scenario, configuration, now: clock.now))
    }

    private static func script(_ scenario: Scenario, _ configuration: SimulatorConfiguration, now: Int64) -> Script {
        Script(
            verdicts: VerdictChooser(
                scenario: scenario, usesPrefixes: configuration.usesTokenPrefixes, start: now),
            connections: ConnectionChooser(scenario: scenario, roundTrip: configuration.roundTrip, start: now),
            limits: scenario.limits ?? configuration.limits)
    }

    /// The seed of a connection's own random numbers.
    ///
    /// - Parameter number: Which connection.
    /// - Returns: A seed that differs between runs, so that identifiers differ as they do at APNs.
    func seed(forConnection number: Int) -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return system.next() &+ UInt64(number)
    }

    /// Finds the fault that ends the handshake of a client with a bad certificate. Nil where bad certificates are told
    /// in the answers to pushes.
    var clientFault: (@Sendable (PeerCertificate) -> CertificateFault?)? {
        guard configuration.trust.badCertificate == .alert else { return nil }
        return { self.fault(of: $0) }
    }

    /// Looks for what is wrong with a provider's certificate whose chain is good.
    ///
    /// - Parameter peer: The certificate.
    /// - Returns: Nil where it is good at present, by the simulator's clock.
    private func fault(of peer: PeerCertificate) -> CertificateFault? {
        let now = clock.now
        credentials.settle(now: now)
        if credentials.snapshot().revokedCertificates.contains(peer.serialNumber) { return .revoked }
        return now / 1000 > peer.notAfter ? .expired : nil
    }

    /// Chooses what to do with a valid push.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule.
    ///   - now: Milliseconds since 1970.
    ///   - address: The address of the gateway that the client connected to.
    /// - Returns: The verdict.
    func verdict(for push: ValidPush, now: Int64, address: String = "") -> Verdict {
        if !push.token.isEmpty, let refusal = devices?.refusal(for: push, now: now) { return Verdict(.refuse(refusal)) }
        return script.withLock { script in
            if let rate = script.limits.devicePushes, !script.throttle.admits(push.token, now: now, rate: rate) {
                return Verdict(.refuse(.tooManyRequests))
            }
            return script.verdicts.verdict(for: push, now: now, address: address)
        }
    }

    /// Whether the gateway takes messages for broadcast channels. It does not where they have a port of their own.
    var publishesToBroadcastChannels: Bool { configuration.devices.broadcastPort == nil }

    /// Counts a request about broadcast channels, or a broadcast.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Whether the request is within the app's rate.
    func admitsBroadcastChannelRequest(of app: String, now: Int64) -> Bool {
        script.withLock { script in
            guard let rate = script.limits.broadcastChannelRequests else { return true }
            return script.broadcastChannelThrottle.admits(Array(app.utf8), now: now, rate: rate)
        }
    }

    /// Chooses what to do with a new connection.
    ///
    /// - Parameters:
    ///   - address: The address of the gateway that the client connected to.
    ///   - client: The client's address.
    /// - Returns: The plan, and what the gateway tolerates on this connection.
    func plan(for address: String, client: String) -> (plan: ConnectionPlan, limits: GatewayLimits) {
        let now = clock.now
        return script.withLock { script in
            var plan = script.connections.plan(for: address, now: now)
            if !script.gate.admits(client, now: now, limit: script.limits.connectionsPerMinute) {
                plan.isRefused = true
            }
            return (plan, script.limits)
        }
    }

    /// Begins another scenario. The progress of devices and all counts of the old scenario are forgotten.
    ///
    /// - Parameter scenario: The scenario; its further addresses are not listened at.
    func use(_ scenario: Scenario) {
        let now = clock.now
        script.withLock { $0 = Self.script(scenario, configuration, now: now) }
    }

    /// Whether the service is going down: it says goodbye and refuses what still comes with `Shutdown`.
    var isDraining: Bool {
        get { draining.load(ordering: .relaxed) }
        set { draining.store(newValue, ordering: .relaxed) }
    }

    /// Whether going down has two steps, because the process ends: ``PushSession/announceEnd()`` comes before the final
    /// GOAWAY. Otherwise the final GOAWAY comes at once.
    var announcesEnd: Bool {
        get { announcing.load(ordering: .relaxed) }
        set { announcing.store(newValue, ordering: .relaxed) }
    }

    /// Writes a valid push down.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - id: The identifier answered.
    ///   - payload: The payload.
    ///   - time: Milliseconds since 1970.
    ///   - verdict: What is done with it.
    ///   - place: Connection and stream.
    func record(
        _ push: ValidPush, id: UUIDBytes, payload: [UInt8], time: Int64, verdict: Verdict,
        at place: (connection: Int, stream: Int32)
    ) {
        ledger.record(
            token: push.token, id: id, topic: push.topic, payload: payload, time: time, status: verdict.status,
            label: verdict.label, connection: place.connection, stream: place.stream)
    }

    /// Writes a refused request down, as far as it can be read.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: The identifier answered.
    ///   - time: Milliseconds since 1970.
    ///   - refusal: What it is answered.
    ///   - place: Connection and stream.
    func record(
        _ request: PushRequest, id: UUIDBytes, time: Int64, refusal: Refusal,
        at place: (connection: Int, stream: Int32)
    ) {
        var token: [UInt8] = []
        if case .device(let named) = request.target, HexText.isHex(named) { token = named }
        let topic = request[.topic].flatMap {
            $0.count <= PushRules.topicLimit ? String(validating: $0, as: UTF8.self) : nil
        }
        ledger.record(
            token: token, id: id, topic: topic ?? "", payload: request.payload, time: time, status: refusal.status,
            label: refusal.reason, connection: place.connection, stream: place.stream)
    }

    /// Forgets the pushes in the ledger, the counts of requests and the progress of devices in the scenario.
    func reset() {
        ledger.reset()
        counters.reset()
        let now = clock.now
        script.withLock { $0.verdicts.reset(start: now) }
    }
}
