import EventLoop
import PushModel

/// The versions of a credential that a pool knows: the one in use, the one that is being proved, the one to go back to
/// and a refused one. `CredentialRotationStateMachine` decides which version is which.
///
/// The rotation touches no connection. A `Change` says what the pool must do about its connections.
struct CredentialRotation {
    /// The connection on which a new version of a credential proves itself.
    struct Proof {
        /// The number of the request for the connection, while the connect is under way.
        var request: Int?
        /// The connection, once it is open.
        var connection: APNSConnection?
        /// When the proof may be tried again; nil unless the last try failed.
        var retryAt: MonotonicTime?
    }

    /// What the pool does after a change.
    enum Step {
        /// Ask for a connection on which this version proves itself, and call `began(_:)`.
        case openProof(APNSCredential)
        /// Close the connection of this proof, or stop waiting for it.
        case dropProof(Proof)
        /// Use this version for all connections. This proof is over.
        case switchTo(APNSCredential, after: Proof)
        /// Let every connection of the version with this number finish its open requests.
        case closeAll(Int)
    }

    /// What follows from an event.
    struct Change {
        /// What the pool does, in this order.
        var steps: [Step] = []
        /// What the lane is told after that; nil for nothing.
        var event: CredentialEvent?
    }

    /// The wait after a new version could not be tried.
    static let proofRetry = Duration.seconds(30)
    /// The wait after APNs said that the provider token changes too often: Apple's limit.
    static let tokenUpdateRetry = Duration.seconds(20 * 60)

    /// The version of all connections, except for the one that proves a newer version.
    private(set) var current: APNSCredential
    /// Another version that was refused, or whose time was over. It is tried again later.
    private(set) var spare: APNSCredential?
    /// The connection on which a newer version proves itself.
    private(set) var proof = Proof()
    /// The version that is being proved.
    private var candidate: APNSCredential?
    /// The version before the one in use, while the one in use is not proved.
    private var fallback: APNSCredential?
    /// Decides which version is which.
    private var machine: CredentialRotationStateMachine

    /// A rotation that knows one version, which all connections use.
    init(_ credential: APNSCredential) {
        current = credential
        machine = CredentialRotationStateMachine(version: credential.version)
    }

    /// Whether no connections are wanted, because the version was refused or its time is over.
    var isRefused: Bool { machine.isRefused }

    /// Whether the version in use is not proved yet.
    var isTrying: Bool { fallback != nil }

    /// The number of the version that no answer has proved yet; nil without one.
    var unprovedVersion: Int? { machine.candidate ?? (machine.fallback == nil ? nil : machine.current) }

    /// When the proof is to be tried again; nil if something else must happen first.
    var proofDue: MonotonicTime? { machine.lacksProof ? proof.retryAt : nil }

    /// Whether no answer has proved this version yet.
    func isUnproved(_ credential: APNSCredential) -> Bool {
        (fallback != nil && credential === current) || credential === candidate
    }

    // MARK: Versions

    /// A version was read from its files. A version that is not newer than all known versions changes nothing.
    mutating func offered(_ credential: APNSCredential) -> Change? {
        let actions = machine.offered(credential.version)
        guard !actions.isEmpty else { return nil }
        candidate = credential
        return Change(steps: steps(for: actions))
    }

    /// The time of the version in use is over.
    ///
    /// - Parameter seconds: The time in seconds since 1970, by which certificates are judged.
    /// - Returns: What follows; nil if the connections are closed already.
    mutating func expired(seconds: Int64) -> Change? {
        let other = machine.spare
        let actions = machine.expired(isSpareTimely: spare?.validity?.contains(seconds) ?? true)
        guard !actions.isEmpty else { return nil }
        let steps = steps(for: actions)
        return Change(steps: steps, event: machine.current == other ? .retried(version: machine.current) : nil)
    }

    /// Takes over another pool's spare version; nil for none.
    mutating func keep(spare version: APNSCredential?) {
        spare = version
        machine.keep(spare: version?.version)
    }

    /// Connections are wanted again after a refusal or the end of a certificate's time.
    ///
    /// - Returns: What follows; nil if connections were wanted before.
    mutating func retry() -> Change? {
        guard isRefused else { return nil }
        let before = machine.current
        let steps = steps(for: machine.retry())
        return Change(steps: steps, event: machine.current == before ? nil : .retried(version: machine.current))
    }

    // MARK: Verdicts

    /// APNs answered a request that was sent with a version, or refused its connection.
    ///
    /// - Parameters:
    ///   - version: The number of the version.
    ///   - verdict: What APNs said about it.
    ///   - reason: The verdict in words, for people.
    /// - Returns: What follows; nil if the verdict changes nothing.
    mutating func judged(_ version: Int, _ verdict: CredentialVerdict, reason: String = "") -> Change? {
        let before = machine.state
        let actions = machine.judged(version, verdict)
        guard machine.state != before else { return nil }
        var change = Change(steps: steps(for: actions))
        switch (verdict, before) {
        case (.accepted, _): change.event = .switched(version: version)
        case (_, .proving(_, version)), (_, .trying(_, version)):
            change.event = .candidateRefused(version: version, reason: reason)
        case (.refused(let scope), _):
            change.event = .refused(version: version, reason: reason, concerns: scope)
        default: break
        }
        return change
    }

    /// APNs turned away a request because of its version, which was replaced or is not proved.
    ///
    /// If the version in use is not proved, the previous version comes back. The proof is tried again after
    /// `tokenUpdateRetry` if the provider token changed too often, otherwise after `proofRetry`.
    ///
    /// - Parameters:
    ///   - version: The number of the version.
    ///   - verdict: What APNs said about it.
    ///   - now: The time.
    /// - Returns: What follows.
    mutating func turnedAway(_ version: Int, _ verdict: CredentialVerdict, now: MonotonicTime) -> Change {
        let steps = steps(for: machine.doubted(version))
        if machine.candidate == version {
            proof.retryAt = now + (verdict == .tokenChangedTooOften ? Self.tokenUpdateRetry : Self.proofRetry)
        }
        return Change(steps: steps)
    }

    // MARK: The proof

    /// The connection for the proof was asked for.
    ///
    /// - Parameter request: The number of the request.
    mutating func began(_ request: Int) { proof = Proof(request: request) }

    /// The connection for the proof is open.
    mutating func opened(_ connection: APNSConnection) { proof = Proof(connection: connection) }

    /// The connection for the proof works, and there is nothing to send on it. Its version is used from now on.
    mutating func reached(_ version: Int) -> Change {
        Change(steps: steps(for: machine.reached(version)), event: .tried(version: version))
    }

    /// The connection for the proof could not be opened, or was lost. The proof is tried again after a wait.
    mutating func proofLost(now: MonotonicTime) {
        guard let candidate else { return }
        machine.proofLost(candidate.version)
        let retryAt = now + Self.proofRetry
        proof = Proof(retryAt: max(proof.retryAt ?? retryAt, retryAt))
    }

    /// The wait is over. The proof is tried again.
    mutating func retryProof() -> Change { Change(steps: steps(for: machine.retryProof())) }

    // MARK: Steps

    /// Takes over the roles of the versions from the state machine, and turns its actions into steps.
    private mutating func steps(for actions: [CredentialRotationStateMachine.Action]) -> [Step] {
        let known = [current, candidate, fallback, spare].compactMap(\.self)
        func credential(_ version: Int?) -> APNSCredential? { known.first { $0.version == version } }
        current = credential(machine.current) ?? current
        candidate = credential(machine.candidate)
        fallback = credential(machine.fallback)
        spare = credential(machine.spare)
        return actions.compactMap { action in
            switch action {
            case .openProof(let version): credential(version).map { .openProof($0) }
            case .dropProof: .dropProof(takeProof())
            case .switchTo(let version): credential(version).map { .switchTo($0, after: takeProof()) }
            case .closeAll(let version): .closeAll(version)
            }
        }
    }

    private mutating func takeProof() -> Proof {
        defer { proof = Proof() }
        return proof
    }
}
