import Synchronization

/// The keys and certificates that are good at the moment; both can be revoked while the simulator runs. Any thread.
final class CredentialRegistry: Sendable {
    /// How many shared accounts of token updates are kept; beyond it all start anew.
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
        var accounts: [String: RefreshAccount] = [:]
    }

    private let acceptsAnyWellFormed: Bool
    private let changes = Atomic(0)
    private let state: Mutex<State>

    /// Starts with keys and what was revoked before.
    ///
    /// - Parameters:
    ///   - keys: The known keys.
    ///   - acceptsAnyWellFormed: Whether signatures go unchecked where no keys are known.
    ///   - revokedKeys: The identifiers of revoked keys.
    ///   - revokedCertificates: The serial numbers of revoked certificates.
    init(
        keys: [ProviderKey], acceptsAnyWellFormed: Bool, revokedKeys: Set<String> = [],
        revokedCertificates: Set<String> = []
    ) {
        self.acceptsAnyWellFormed = acceptsAnyWellFormed
        state = Mutex(State(keys: keys, revokedKeys: revokedKeys, revokedCertificates: revokedCertificates))
    }

    /// What is revoked at present, as it is kept.
    var revoked: (keys: Set<String>, certificates: Set<String>) {
        state.withLock { ($0.revokedKeys, $0.revokedCertificates) }
    }

    /// The number of changes so far, to be compared with a snapshot's.
    var version: Int { changes.load(ordering: .acquiring) }

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
    ///   - isRevoked: Whether it is revoked from now on.
    /// - Returns: Whether the key is known, or any key is.
    func setKey(_ keyID: String, isRevoked: Bool) -> Bool {
        change { state in
            guard acceptsAnyWellFormed && state.keys.isEmpty || state.keys.contains(where: { $0.keyID == keyID }) else {
                return false
            }
            if isRevoked { state.revokedKeys.insert(keyID) } else { state.revokedKeys.remove(keyID) }
            return true
        }
    }

    /// Revokes a client certificate or takes that back.
    ///
    /// - Parameters:
    ///   - serialNumber: Its serial number in hexadecimal digits of either case.
    ///   - isRevoked: Whether it is revoked from now on.
    func setCertificate(_ serialNumber: String, isRevoked: Bool) {
        change { state in
            let serial = serialNumber.lowercased()
            if isRevoked { state.revokedCertificates.insert(serial) } else { state.revokedCertificates.remove(serial) }
        }
    }

    /// Uses a token on an account that connections share.
    ///
    /// - Parameters:
    ///   - name: Whose account: a key's identifier or a team's.
    ///   - body: Changes the account.
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
            changes.wrappingAdd(1, ordering: .releasing)
            return result
        }
    }
}
