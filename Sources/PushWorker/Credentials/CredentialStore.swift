import APNSClient
import EventLoop
import Synchronization
import TLS
import WorkerSettings

/// The credentials of a worker: their present versions, and the files they come from. Safe on any thread.
final class CredentialStore: Sendable {
    /// What became of a credential when its files were read again.
    enum Change: Sendable {
        /// There is a new version. `before` is the label of the version before, nil for the first.
        case changed(APNSCredential, before: String?)
        /// The files hold what they held before.
        case unchanged(name: String)
        /// The files cannot be used. The version before stays, if there is one.
        case failed(name: String, reason: String, isInUse: Bool)
    }

    private struct Entry {
        var configuration: CredentialConfiguration
        var stamps: [FileStamp?]
        /// The version that was last read from the files, and its fingerprint; nil until the files could be used once.
        var present: (credential: APNSCredential, fingerprint: String)?
        /// Why the files cannot be used; nil once they could be used.
        var unusable: String?
        /// The newest version of which the lane was told that APNs refuses it on every route; 0 for none.
        var refused = 0
    }

    private let trust: TrustRoots
    /// Signs in place of all keys; nil outside of simulations. Signatures are random, and a simulation is not.
    private let standIn: ProviderTokenSource.Signature?
    private let entries: Mutex<[String: Entry]>
    /// The names of the credentials that routes use at the start; nil for all.
    private let used: Set<String>?

    /// Reads all credentials.
    ///
    /// - Parameters:
    ///   - configurations: The configured credentials.
    ///   - trust: The roots of trust for APNs' certificates.
    ///   - used: The names of the credentials that routes use; nil for all.
    ///   - standIn: Signs in place of all keys, in simulations.
    /// - Throws: `WorkerError` if none of the used credentials can be used.
    init(
        _ configurations: [CredentialConfiguration], trust: TrustRoots, used: Set<String>? = nil,
        standIn: ProviderTokenSource.Signature? = nil
    ) throws(WorkerError) {
        self.trust = trust
        self.standIn = standIn
        self.used = used
        var entries: [String: Entry] = [:]
        for configuration in configurations {
            var entry = Entry(configuration: configuration, stamps: configuration.files.map(FileStamp.init(path:)))
            do throws(TLSError) {
                let material = try CredentialMaterial(reading: configuration)
                let credential = try material.credential(
                    name: configuration.name, version: 1, trust: trust, standIn: standIn)
                entry.present = (credential, material.fingerprint)
            } catch {
                entry.unusable = error.message
            }
            entries[configuration.name] = entry
        }
        let needed = entries.filter { used?.contains($0.key) ?? true }.sorted { $0.key < $1.key }
        if !needed.isEmpty, needed.allSatisfy({ $0.value.present == nil }) {
            let reasons = needed.map { "credential \($0.key): \($0.value.unusable ?? "")" }
            throw WorkerError(message: reasons.joined(separator: "; "))
        }
        self.entries = Mutex(entries)
    }

    /// The present version of a credential; nil if its files could never be used, or if no credential has this name.
    func current(_ name: String) -> APNSCredential? { entries.withLock { $0[name]?.present?.credential } }

    /// Why the files of a credential cannot be used; nil once they could be used, or if no credential has this name.
    func unusable(_ name: String) -> String? { entries.withLock { $0[name]?.unusable } }

    /// A failure for each credential that a route uses and whose files could never be used.
    var failures: [Change] {
        entries.withLock { entries in
            entries.compactMap { name, entry in
                used?.contains(name) == false ? nil : entry.unusable.map { (name, $0) }
            }
        }.sorted { $0.0 < $1.0 }.map { .failed(name: $0, reason: $1, isInUse: false) }
    }

    /// All credentials by name, for metrics and expiry warnings.
    var statuses: [CredentialStatus] {
        entries.withLock { entries in
            entries.values.map {
                let present = $0.present?.credential
                return CredentialStatus(
                    name: $0.configuration.name, version: present?.version ?? 0,
                    notAfter: present?.validity?.upperBound)
            }
        }.sorted { $0.name < $1.name }
    }

    /// Notes that APNs refuses a version, wherever it is used.
    ///
    /// - Returns: Whether this is news. Each version is news once, so that one misconfigured route cannot disturb the
    ///   other routes of its credential again and again.
    func noteRefused(_ name: String, version: Int) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[name], entry.present?.credential.version == version, entry.refused < version
            else {
                return false
            }
            entries[name]?.refused = version
            return true
        }
    }

    /// Reads the credentials whose files look different from before. Also reads those whose files could never be used,
    /// because the reason may be gone by now.
    ///
    /// - Returns: What became of the credentials that were read. A failure for the same reason as before is left out.
    func readChanged() -> [Change] {
        let present = entries.withLock { $0.values.map { ($0.configuration, $0.stamps, $0.unusable) } }
        return present.compactMap { configuration, before, unusable in
            let stamps = configuration.files.map(FileStamp.init(path:))
            guard stamps != before || unusable != nil else { return nil }
            let change = read(configuration, stamps)
            if case .failed(_, unusable, isInUse: false) = change { return nil }
            return change
        }
    }

    /// Reads all credentials. Forgets credentials that are no longer configured.
    ///
    /// - Parameter configurations: How they are configured now.
    /// - Returns: What became of each, in the order of their names.
    func readAll(_ configurations: [CredentialConfiguration]) -> [Change] {
        let names = Set(configurations.map(\.name))
        entries.withLock { entries in
            entries = entries.filter { names.contains($0.key) }
            for new in configurations where entries[new.name] == nil {
                entries[new.name] = Entry(configuration: new, stamps: [])
            }
        }
        return configurations.sorted { $0.name < $1.name }.map { read($0, $0.files.map(FileStamp.init(path:))) }
    }

    /// Reads one credential. The stamps were taken before, so a change in between is seen the next time.
    private func read(_ configuration: CredentialConfiguration, _ stamps: [FileStamp?]) -> Change {
        let result: Result<CredentialMaterial, TLSError>
        do throws(TLSError) {
            result = .success(try CredentialMaterial(reading: configuration))
        } catch {
            result = .failure(error)
        }
        return entries.withLock { entries in
            guard var entry = entries[configuration.name] else { return .unchanged(name: configuration.name) }
            // These files are watched from now on, even if they cannot be used yet.
            entry.configuration = configuration
            entry.stamps = stamps
            defer { entries[configuration.name] = entry }
            do {
                let material = try result.get()
                let before = entry.present
                guard material.fingerprint != before?.fingerprint else {
                    return .unchanged(name: configuration.name)
                }
                let credential = try material.credential(
                    name: configuration.name, version: (before?.credential.version ?? 0) + 1, trust: trust,
                    standIn: standIn)
                entry.present = (credential, material.fingerprint)
                entry.unusable = nil
                return .changed(credential, before: before?.credential.label)
            } catch {
                let reason = (error as? TLSError)?.message ?? "\(error)"
                if entry.present == nil { entry.unusable = reason }
                return .failed(name: configuration.name, reason: reason, isInUse: entry.present != nil)
            }
        }
    }
}
