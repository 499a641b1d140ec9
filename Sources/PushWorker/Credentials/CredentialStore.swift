internal import APNSClient
internal import EventLoop
internal import Synchronization
internal import TLS

/// What became of a credential when its files were read again.
enum CredentialChange: Sendable {
    /// There is a new version.
    case changed(APNSCredential, before: String)
    /// The files hold what they held before.
    case unchanged(name: String)
    /// The files cannot be used; the version before stays.
    case failed(name: String, reason: String)
}

/// How a credential is doing, for metrics.
package struct CredentialStatus: Sendable, Equatable {
    /// Its name in the configuration.
    package var name: String
    /// The number of its version, which counts how often its files were read with a new content.
    package var version: Int
    /// When it ends, in seconds since 1970; nil for a key, which does not.
    package var notAfter: Int64?
}

/// The credentials of a worker: their present versions, and the files they come from. Safe on any thread.
final class CredentialStore: Sendable {
    private struct Entry {
        var configuration: CredentialConfiguration
        var stamps: [FileStamp?]
        var fingerprint: String
        var credential: APNSCredential
        /// The version that APNs refused everywhere, as far as was told to the lanes.
        var refused = 0
    }

    private let trust: TrustRoots
    private let entries: Mutex<[String: Entry]>

    /// Reads all credentials.
    ///
    /// - Parameters:
    ///   - configurations: which there are.
    ///   - trust: who may vouch for APNs.
    /// - Throws: `WorkerError` for the first that cannot be used.
    init(_ configurations: [CredentialConfiguration], trust: TrustRoots) throws(WorkerError) {
        self.trust = trust
        var entries: [String: Entry] = [:]
        for configuration in configurations {
            let stamps = configuration.files.map(FileStamp.init(path:))
            do throws(TLSError) {
                let material = try CredentialMaterial(reading: configuration)
                entries[configuration.name] = Entry(
                    configuration: configuration, stamps: stamps, fingerprint: material.fingerprint,
                    credential: try material.credential(name: configuration.name, version: 1, trust: trust))
            } catch {
                throw WorkerError(message: "credential \(configuration.name): \(error.message)")
            }
        }
        self.entries = Mutex(entries)
    }

    /// The present version of a credential; nil for a name nobody configured.
    func current(_ name: String) -> APNSCredential? { entries.withLock { $0[name]?.credential } }

    /// All credentials by name, for metrics and expiry warnings.
    var statuses: [CredentialStatus] {
        entries.withLock { entries in
            entries.values.map {
                CredentialStatus(
                    name: $0.credential.name, version: $0.credential.version,
                    notAfter: $0.credential.validity?.upperBound)
            }
        }.sorted { $0.name < $1.name }
    }

    /// Notes that APNs refuses a version, wherever it is used.
    ///
    /// - Returns: whether this is news; it is once per version, so that one misconfigured route cannot disturb the
    ///   others that share its credential again and again.
    func noteRefused(_ name: String, version: Int) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[name], entry.credential.version == version, entry.refused < version else {
                return false
            }
            entries[name]?.refused = version
            return true
        }
    }

    /// Reads the credentials whose files look different from before.
    ///
    /// - Returns: what became of those; nothing for the others.
    func readChanged() -> [CredentialChange] {
        let present = entries.withLock { $0.values.map { ($0.configuration, $0.stamps) } }
        return present.compactMap { configuration, before in
            let stamps = configuration.files.map(FileStamp.init(path:))
            return stamps == before ? nil : read(configuration, stamps)
        }
    }

    /// Reads all credentials.
    ///
    /// - Parameter configurations: how they are configured now; those nobody had at the start are ignored, for no route
    ///   uses them. Nil for no change.
    /// - Returns: what became of each, by name.
    func readAll(_ configurations: [CredentialConfiguration]? = nil) -> [CredentialChange] {
        let known = entries.withLock { entries in entries.values.map(\.configuration) }
        let wanted = configurations?.filter { one in known.contains { $0.name == one.name } } ?? known
        return wanted.sorted { $0.name < $1.name }.map { read($0, $0.files.map(FileStamp.init(path:))) }
    }

    /// Reads one credential. The stamps were taken before, so that a change in between is seen the next time.
    private func read(_ configuration: CredentialConfiguration, _ stamps: [FileStamp?]) -> CredentialChange {
        let result: Result<CredentialMaterial, TLSError>
        do throws(TLSError) {
            result = .success(try CredentialMaterial(reading: configuration))
        } catch {
            result = .failure(error)
        }
        return entries.withLock { entries in
            guard var entry = entries[configuration.name] else { return .unchanged(name: configuration.name) }
            entry.stamps = stamps
            defer { entries[configuration.name] = entry }
            do {
                let material = try result.get()
                entry.configuration = configuration
                guard material.fingerprint != entry.fingerprint else { return .unchanged(name: configuration.name) }
                let before = entry.credential.label
                entry.credential = try material.credential(
                    name: configuration.name, version: entry.credential.version + 1, trust: trust)
                entry.fingerprint = material.fingerprint
                return .changed(entry.credential, before: before)
            } catch {
                let reason = (error as? TLSError)?.message ?? "\(error)"
                return .failed(name: configuration.name, reason: reason)
            }
        }
    }
}
