import APNSClient
import EventLoop
import PushModel

/// How a route uses its credential: which version each of its hosts has, and what is learned about the credential from
/// answers and from connections.
///
/// - `RouteCredential` decides which version is trusted; each host proves a new version for itself.
/// - A refusal goes to the breaker of the host that was refused. It stops no other host.
///
/// Confined to its lane. Time comes in.
final class CredentialUse {
    /// The versions with which a host starts when it gets connections.
    struct Opening {
        /// The version that the connections use.
        let present: APNSCredential
        /// The newest version. The host proves it if it is not the one in use.
        let newest: APNSCredential
        /// A version that was given up; nil without one.
        let spare: APNSCredential?
    }

    /// The longest wait before the credential's validity is looked at again, in milliseconds.
    private static let longestValidity: Int64 = 3_600_000

    /// What is known about the credential; nil for the route that answers `NoRoute`.
    var known: RouteCredential?
    private let hosts: RouteHosts

    /// The use of a credential on hosts without connections.
    ///
    /// - Parameters:
    ///   - known: What is known about it; nil for the route that answers `NoRoute`.
    ///   - hosts: The route's hosts.
    init(_ known: RouteCredential?, on hosts: RouteHosts) { (self.known, self.hosts) = (known, hosts) }

    /// The credential's name; nil for the route that answers `NoRoute`.
    var name: String? { known?.name }

    /// The version that pushes use, or would use if there were connections.
    var present: APNSCredential? { devices.pool?.credential ?? known?.trusted }

    /// Why the route cannot use the credential's files: they are unusable, or do not fit the route; nil once it could
    /// use them.
    var defect: String? { known?.unusable }

    /// Why the credential keeps the route from pushing, and what else operators should know about it, in one line each.
    var troubles: [String] {
        known?.troubles(devices.breaker, isProving: devices.pool?.provingVersion != nil) ?? []
    }

    private var devices: Destination { hosts.devices }

    // MARK: Connections

    /// The versions with which a host starts; nil if the route has no version that it can use.
    var opening: Opening? {
        guard let known, let newest = known.newest, let present else { return nil }
        // The same version as on the route's other connections. A version that APNs refused there would have no
        // fallback here.
        let other = hosts.all.lazy.compactMap(\.pool).first
        return Opening(
            present: other?.credential ?? present, newest: newest, spare: other.map(\.spare) ?? known.spare)
    }

    /// The connections to a host are about to rest. The next connections to devices start with the versions that the
    /// present ones have proved. A proof that is not finished starts again.
    func keepVersions(of host: Destination) {
        if host.kind == .devices, let pool = host.pool, pool.provingVersion == nil { known?.keep(pool) }
    }

    // MARK: Time

    /// Lets the credential's validity and the breaker decide whether there are connections.
    func passTime(at moment: Moment) {
        guard let isHeld = known?.timePassed(moment.wall / 1_000, inUse: devices.pool?.credential) else { return }
        devices.hold(isHeld, at: moment)
        for host in hosts.broadcastChannels where host.breaker.isHeld != isHeld { host.hold(isHeld, at: moment) }
        if !isHeld, !devices.breaker.isParked { devices.pool?.retryCredential(now: moment.monotonic) }
    }

    /// When the credential's time begins or ends, or has to be looked at again; nil for never.
    func nextDue(after moment: Moment) -> MonotonicTime? {
        guard let validity = present?.validity else { return nil }
        let seconds = moment.wall / 1_000
        guard seconds <= validity.upperBound else { return nil }
        let change = seconds < validity.lowerBound ? validity.lowerBound : validity.upperBound + 1
        let wait = change - seconds > Self.longestValidity / 1_000 ? Self.longestValidity : change * 1_000 - moment.wall
        return moment.monotonic + .milliseconds(wait)
    }

    // MARK: What the worker says

    /// The credential's files still cannot be used.
    func failed(_ reason: String) { known?.failed(reason) }

    /// A new version of the credential was read. Each destination proves it for itself.
    ///
    /// - Returns: Why the route cannot use it; nil if it can.
    @discardableResult func offer(_ newest: APNSCredential, at moment: Moment) -> String? {
        if let mismatch = known?.offered(newest) { return mismatch }
        // If there was no good version to lose, the pool has switched already.
        if devices.offer(newest, now: moment.monotonic) { known?.refusalEnded() }
        for host in hosts.broadcastChannels { _ = host.offer(newest, now: moment.monotonic) }
        return nil
    }

    /// APNs refused a version on another route. If the connections to devices use this version, and their host is not
    /// parked, every destination that uses it replaces its connections.
    func refusedElsewhere(version: Int, at moment: Moment) {
        guard !devices.breaker.isParked, devices.pool?.credential.version == version else { return }
        for destination in hosts.all where destination.pool?.credential.version == version {
            destination.pool?.refreshCredential(now: moment.monotonic)
        }
    }

    /// This machine's clock was set. A route whose token carries a wrong time need not wait for its next probe.
    func clockStepped() {
        if devices.pool?.credential.tokens != nil { devices.breaker.credentialReplaced() }
    }

    // MARK: What the hosts say

    /// A host's pool has news about the credential.
    ///
    /// - Returns: False only for the refusal of a version that was replaced already.
    func happened(_ event: CredentialEvent, on destination: Destination, at moment: Moment) -> Bool {
        let isRoute = destination.kind == .devices
        switch event {
        // A parked route asks with the new version at once.
        case .tried: destination.credentialReplaced()
        case .switched(let version) where isRoute:
            known?.accepted(version)
            known?.refusalEnded()
            known?.candidateTroubleEnded()
        case .candidateRefused(_, let reason) where isRoute: known?.candidateRefused(reason)
        case .retried where isRoute: known?.candidateTroubleEnded()
        case .refused(let version, let reason, _):
            guard destination.pool?.isReplaced(version) != true else { return false }
            if isRoute { known?.refused(reason) }
            // If an answer refused the version, the destination hears of that answer next.
            destination.credentialRefused(.connection(reason), at: moment)
        case .switched, .candidateRefused, .retried, .doubted: break
        }
        return true
    }

    /// Learns from an answer whether a destination accepts the credential; no other destination hears of it.
    func learn(from answer: Answer, _ settlement: Settlement, on destination: Destination, at moment: Moment) {
        switch settlement {
        // The notification is sent again at once, and its next answer says more.
        case .resend, .resendOnNewConnection: return
        case .report, .retry, .park: break
        }
        let isRefused: Bool
        switch answer.meaning.credential {
        case .accepted: return proved(on: destination)
        // A server in trouble, or something before APNs, may not have looked at it.
        case .unexamined: return
        // `unexplained`: without a pause, each job of the queue would be rejected for a reason that nobody knows. The
        // probes find out whether the refusal lasts. The pool keeps its connections.
        case .unexplained, .refused, .tokenChangedTooOften: isRefused = true
        case .doubted, .tokenExpired: isRefused = settlement.blamesCredential
        }
        guard isRefused else { return }
        let refusal = CredentialRefusal.answer(answer)
        // The pool tells only of refusals on which it acts. Operators need the reason of the others, too.
        if destination.kind == .devices { known?.refused(refusal.text) }
        destination.credentialRefused(refusal, at: moment)
    }

    /// An answer shows that the credential is accepted. Earlier refusals no longer count.
    private func proved(on destination: Destination) {
        guard destination.breaker.state != .working else { return }
        destination.breaker.credentialAccepted()
        guard destination.kind == .devices, destination.breaker.state == .working else { return }
        known?.refusalEnded()
    }
}
