import Synchronization

/// What all connections share: configuration, rules, keys, the verdicts' memory and the ledger. Safe from any thread.
final class PushService: Sendable {
    /// The configuration.
    let configuration: SimulatorConfiguration

    /// The rules for requests.
    let rules: PushRules

    /// The known keys.
    let verifier: ProviderTokenVerifier

    /// What every device token received.
    let ledger: Ledger

    /// Numbers about the gateway.
    let counters = GatewayCounters()

    /// The device side; nil where the simulator has none.
    let devices: DeviceService?

    private let chooser: Mutex<VerdictChooser>

    /// Makes the shared part of a simulator.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - devices: The device side.
    init(configuration: SimulatorConfiguration, devices: DeviceService? = nil) {
        self.devices = devices
        self.configuration = configuration
        rules = PushRules(
            tokenLengths: configuration.tokenLengths, requiresJSONObject: configuration.requiresJSONObject)
        verifier = ProviderTokenVerifier(keys: configuration.keys, acceptsAnyWellFormed: configuration.acceptsAnyKey)
        ledger = Ledger(capacity: configuration.ledgerCapacity)
        chooser = Mutex(
            VerdictChooser(scenario: configuration.scenario, usesPrefixes: configuration.usesTokenPrefixes))
    }

    /// Where a connection's own randomness starts.
    ///
    /// - Parameter number: Which connection.
    /// - Returns: A seed; identifiers differ between runs as they do at APNs.
    func seed(forConnection number: Int) -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return system.next() &+ UInt64(number)
    }

    /// Chooses what to do with a valid push.
    ///
    /// - Parameters:
    ///   - push: A push that broke no rule.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The verdict.
    func verdict(for push: ValidPush, now: Int64) -> Verdict {
        if !push.token.isEmpty, let refusal = devices?.refusal(for: push, now: now) { return Verdict(.refuse(refusal)) }
        return chooser.withLock { $0.verdict(for: push, now: now) }
    }

    /// Writes a valid push down.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - id: The identifier answered.
    ///   - uniqueID: The key of the delivery log answered.
    ///   - payload: The payload.
    ///   - time: Milliseconds since 1970.
    ///   - verdict: What is done with it.
    ///   - place: Connection and stream.
    func record(
        _ push: ValidPush, id: MessageID, uniqueID: MessageID, payload: [UInt8], time: Int64, verdict: Verdict,
        at place: (connection: Int, stream: Int32)
    ) {
        if verdict.status == 200 { devices?.accept(push, id: id, uniqueID: uniqueID, payload: payload, now: time) }
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
        _ request: PushRequest, id: MessageID, time: Int64, refusal: Refusal,
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

    /// Forgets pushes, counts and how far devices are in the scenario.
    func reset() {
        ledger.reset()
        counters.reset()
        chooser.withLock { $0.reset() }
    }
}
