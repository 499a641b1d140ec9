import PushModel

/// Decides how a pool changes from one version of its credential to the next. Pure: events go in, actions come out.
///
/// - A new version proves itself on a connection of its own before the other connections follow. If APNs refuses the
///   new version, the old version stays in use. No notification fails because of the refusal.
/// - If there is no notification to prove the new version with, it is used as soon as its connection works. The old
///   version comes back if an answer refuses the new one. A connection alone proves nothing: APNs judges a provider
///   token only in answer to a request, and a certificate not always earlier.
///
/// Apple: close every connection of a revoked key or certificate, correct the credential, reopen
/// (<https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>).
struct CredentialRotationStateMachine: Sendable, Equatable {
    /// Where the pool stands.
    enum State: Sendable, Equatable {
        /// All connections use this version.
        case settled(Int)
        /// All connections use the old version. The new one waits for a connection, or for its first answer.
        case proving(old: Int, new: Int)
        /// All connections use the new version, which no answer has proved yet. A refusal brings the old one back.
        case trying(old: Int, new: Int)
        /// APNs refuses this version, or its time is over. There are no connections until `retry()` or a new version.
        case refused(Int)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Open one connection with this version beside the others.
        case openProof(Int)
        /// Close the connection of this version.
        case dropProof(Int)
        /// Use this version for all connections from now on. Connections of other versions finish their open requests.
        case switchTo(Int)
        /// Let every connection of this version finish its open requests, and open no other.
        case closeAll(Int)
    }

    /// Where the pool stands.
    private(set) var state: State
    /// Whether the connection that proves the new version is missing and must be asked for again.
    private(set) var lacksProof = false
    /// Another version that APNs refused, or whose time was over; nil for none.
    ///
    /// It is tried again once the version in use is refused as well, or its time is over. The refusal may have been
    /// wrong: too early, before all of APNs knew the key, or because of a wrong clock.
    private(set) var spare: Int?

    /// A pool whose connections are to use this version.
    init(version: Int) { state = .settled(version) }

    /// The version that new connections use, except for the connection that proves a newer version.
    var current: Int {
        switch state {
        case .settled(let version), .proving(let version, _), .trying(_, let version), .refused(let version): version
        }
    }

    /// The version that is being proved; nil for none.
    var candidate: Int? { if case .proving(_, let new) = state { new } else { nil } }

    /// The version that comes back if the one in use is refused; nil for none.
    var fallback: Int? { if case .trying(let old, _) = state { old } else { nil } }

    /// Whether no connections are wanted.
    var isRefused: Bool { if case .refused = state { true } else { false } }

    /// A version was read from its files. It is ignored if it is not newer than all known versions.
    mutating func offered(_ version: Int) -> [Action] {
        guard version > max(current, candidate ?? 0, spare ?? 0) else { return [] }
        spare = nil
        switch state {
        case .settled(let old):
            state = .proving(old: old, new: version)
            return ask(version)
        case .trying(let old, _):
            // If the newest version is refused, a proved version must come back.
            state = .proving(old: old, new: version)
            return [.switchTo(old)] + ask(version)
        case .proving(let old, let new):
            state = .proving(old: old, new: version)
            return [.dropProof(new)] + ask(version)
        case .refused:
            // There is no good version to lose.
            state = .settled(version)
            return [.switchTo(version)]
        }
    }

    /// APNs answered a request that was sent with a version, or refused its connection.
    mutating func judged(_ version: Int, _ verdict: CredentialVerdict) -> [Action] {
        switch (state, verdict) {
        case (.settled(let current), .refused) where current == version:
            state = .refused(version)
            return [.closeAll(version)]
        case (.proving(_, let new), .accepted) where new == version:
            state = .settled(new)
            return [.switchTo(new)]
        case (.proving(let old, let new), .refused) where new == version:
            state = .settled(old)
            spare = new
            return [.dropProof(new)]
        case (.proving(let old, let new), .refused) where old == version:
            // The old version cannot be used any more. The new version is the only one left, even if it is bad.
            state = .settled(new)
            return [.closeAll(old), .switchTo(new)]
        case (.trying(_, let new), .accepted) where new == version:
            state = .settled(new)
            return []
        case (.trying(let old, let new), .refused) where new == version:
            state = .settled(old)
            spare = new
            return [.switchTo(old)]
        case (.trying(let old, let new), .refused) where old == version:
            state = .settled(new)
            return []
        default: return []
        }
    }

    /// The connection that should prove a version works, and there is nothing to send on it.
    mutating func reached(_ version: Int) -> [Action] {
        guard case .proving(let old, let new) = state, new == version else { return [] }
        state = .trying(old: old, new: new)
        return [.switchTo(new)]
    }

    /// APNs turned away a request because of a version, but did not refuse the version. If that version is in use and
    /// not proved, the old version comes back, and the proof is tried again.
    mutating func doubted(_ version: Int) -> [Action] {
        guard case .trying(let old, let new) = state, new == version else { return [] }
        state = .proving(old: old, new: new)
        lacksProof = true
        return [.switchTo(old)]
    }

    /// The connection that should prove a version could not be opened, or was lost before an answer.
    mutating func proofLost(_ version: Int) {
        if candidate == version { lacksProof = true }
    }

    /// Time has passed since `proofLost`. The proof may be tried again.
    mutating func retryProof() -> [Action] {
        guard lacksProof, let candidate else { return [] }
        return ask(candidate)
    }

    /// The time of the version in use is over, or has not come. A version that is being proved takes its place, or else
    /// the spare version.
    ///
    /// - Parameter isSpareTimely: Whether the spare version is valid now, if there is one.
    mutating func expired(isSpareTimely: Bool = true) -> [Action] {
        switch state {
        case .refused: return []
        case .settled(let version), .trying(_, let version):
            if let other = spare, isSpareTimely {
                state = .settled(other)
                // The version is kept, because the clock of this computer may be wrong.
                spare = version
                return [.closeAll(version), .switchTo(other)]
            }
            state = .refused(version)
            return [.closeAll(version)]
        case .proving(let old, let new):
            state = .settled(new)
            return [.closeAll(old), .switchTo(new)]
        }
    }

    /// The route asks whether a refused version is accepted again. If two were refused, they take turns.
    mutating func retry() -> [Action] {
        guard case .refused(let version) = state else { return [] }
        guard let other = spare else {
            state = .settled(version)
            return []
        }
        state = .settled(other)
        spare = version
        return [.switchTo(other)]
    }

    /// Takes over another pool's spare version, to be tried here once the one in use is refused.
    mutating func keep(spare version: Int?) { spare = version }

    private mutating func ask(_ version: Int) -> [Action] {
        lacksProof = false
        return [.openProof(version)]
    }
}
