import Synchronization

/// The keys and certificates that are good at the moment; both can be revoked while the simulator runs. Any thread.
final class CredentialRegistry: Sendable {
    /// How many shared accounts of token updates are kept. When one more is needed, all are forgotten.
    static let accountLimit = 10_000

    /// What a connection works with until the registry changes.
    struct Snapshot {
        /// The number of changes so far.
        var version: Int
        /// Verifies provider tokens.
        var verifier: ProviderTokenVerifier
        /// The serial numbers of revoked certificates.
        var revokedCertificates: Set<String>
    }

    private struct State {
        var keys: [ProviderKey]
        var revokedKeys: Set<String> = []
        var revokedCertificates: Set<String> = []
        var keysDue: [String: Int64] = [:]
        var certificatesDue: [String: Int64] = [:]
        var accounts: [String: RefreshAccount] = [:]

        /// When the next revocation takes effect, in milliseconds since 1970.
        var nextDue: Int64 { min(keysDue.values.min() ?? .max, certificatesDue.values.min() ?? .max) }
    }

    private let acceptsAnyWellFormed: Bool
    private let changes = Atomic(0)
    private let nextDue: Atomic<Int64>
    private let state: Mutex<State>

    /// Starts with keys and what was revoked before.
    ///
    /// - Parameters:
    ///   - keys: The known keys.
    ///   - acceptsAnyWellFormed: Whether signatures go unchecked where no keys are known.
    ///   - kept: What was revoked before a restart.
    init(keys: [ProviderKey], acceptsAnyWellFormed: Bool, kept: KeptControl) {
        self.acceptsAnyWellFormed = acceptsAnyWellFormed
        let state = State(
            keys: keys, revokedKeys: kept.revokedKeys, revokedCertificates: kept.revokedCertificates,
            keysDue: kept.keysDue ?? [:], certificatesDue: kept.certificatesDue ?? [:])
        nextDue = Atomic(state.nextDue)
        self.state = Mutex(state)
    }

    /// Writes down what is revoked, now or later.
    ///
    /// - Parameter kept: Receives it.
    func keep(in kept: inout KeptControl) {
        state.withLock { state in
            kept.revokedKeys = state.revokedKeys
            kept.revokedCertificates = state.revokedCertificates
            kept.keysDue = state.keysDue
            kept.certificatesDue = state.certificatesDue
        }
    }

    /// Lets revocations take effect that are due.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: The number of changes so far, to be compared with a snapshot's.
    @discardableResult
    func settle(now: Int64) -> Int {
        if now >= nextDue.load(ordering: .relaxed) {
            change { state in
                for (id, due) in state.keysDue where due <= now { state.revokedKeys.insert(id) }
                for (serial, due) in state.certificatesDue where due <= now { state.revokedCertificates.insert(serial) }
                state.keysDue = state.keysDue.filter { $0.value > now }
                state.certificatesDue = state.certificatesDue.filter { $0.value > now }
            }
        }
        return version
    }

    private var version: Int { changes.load(ordering: .acquiring) }

    /// What is good at the moment.
    func snapshot() -> Snapshot {
        state.withLock { state in
            Snapshot(
                version: version,
                verifier: ProviderTokenVerifier(
                    keys: state.keys, acceptsAnyWellFormed: acceptsAnyWellFormed, revoked: state.revokedKeys),
                revokedCertificates: state.revokedCertificates)
        }
    }

    /// Makes a key known, or replaces the one with the same identifier.
    ///
    /// - Parameter key: The key.
    func add(_ key: ProviderKey) { change { $0.keys.append(key) } }

    /// Revokes a key or takes that back.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier.
    ///   - isRevoked: Whether it is revoked.
    ///   - due: When a revocation takes effect, in milliseconds since 1970; nil for at once.
    /// - Returns: Whether the key is known. If no keys are known and any well-formed token is good, every key counts as
    ///   known.
    func setKey(_ keyID: String, isRevoked: Bool, due: Int64? = nil) -> Bool {
        change { state in
            guard acceptsAnyWellFormed && state.keys.isEmpty || state.keys.contains(where: { $0.keyID == keyID }) else {
                return false
            }
            Self.set(keyID, isRevoked, due, now: &state.revokedKeys, later: &state.keysDue)
            return true
        }
    }

    /// Revokes a client certificate or takes that back.
    ///
    /// - Parameters:
    ///   - serialNumber: Its serial number in hexadecimal digits, upper or lower case.
    ///   - isRevoked: Whether it is revoked.
    ///   - due: When a revocation takes effect, in milliseconds since 1970; nil for at once.
    func setCertificate(_ serialNumber: String, isRevoked: Bool, due: Int64? = nil) {
        change { state in
            Self.set(
                serialNumber.lowercased(), isRevoked, due, now: &state.revokedCertificates,
                later: &state.certificatesDue)
        }
    }

    private static func set(
        _ name: String, _ isRevoked: Bool, _ due: Int64?, now: inout Set<String>, later: inout [String: Int64]
    ) {
        later[name] = nil
        if !isRevoked {
            now.remove(name)
        } else if let due {
            later[name] = due
        } else {
            now.insert(name)
        }
    }

    /// Reads or changes an account of token updates that connections share. The first use opens the account.
    ///
    /// - Parameters:
    ///   - name: The identifier of the key or the team that owns the account.
    ///   - body: Reads or changes the account.
    /// - Returns: What `body` returns.
    func withAccount<Result: Sendable>(_ name: String, _ body: (inout RefreshAccount) -> Result) -> Result {
        state.withLock { state in
            if state.accounts.count >= Self.accountLimit, state.accounts[name] == nil { state.accounts.removeAll() }
            return body(&state.accounts[name, default: RefreshAccount()])
        }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            nextDue.store(state.nextDue, ordering: .relaxed)
            changes.wrappingAdd(1, ordering: .releasing)
            return result
        }
    }
}
