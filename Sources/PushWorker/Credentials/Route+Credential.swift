import APNSClient
import EventLoop
import PushModel

// What a route does when its credential changes, or is accepted or refused. `RouteCredential` decides which version is
// trusted; each host proves a new version for itself.
extension Route {
    /// The version that pushes use, or would use if there were connections.
    var presentCredential: APNSCredential? { devices.pool?.credential ?? credential?.trusted }

    /// Why its credential's files cannot be used for it; nil if they can.
    var credentialDefect: String? { credential?.unusable }

    /// The versions of its credential with which a destination begins that gets connections.
    struct OpeningCredentials {
        /// The version that it uses.
        let present: APNSCredential
        /// The newest version, which it proves where that is another one.
        let newest: APNSCredential
        /// A version that was given up; nil without one.
        let spare: APNSCredential?
    }

    /// The versions with which a destination begins; nil where the route has no version that it can use.
    var openingCredentials: OpeningCredentials? {
        guard let credential, let newest = credential.newest, let present = presentCredential else { return nil }
        // The same version as on the route's other connections. A version that APNs refused there would have no
        // fallback here.
        let other = hosts.all.lazy.compactMap(\.pool).first
        return OpeningCredentials(
            present: other?.credential ?? present, newest: newest, spare: other.map(\.spare) ?? credential.spare)
    }

    /// The credential's files still cannot be used.
    func credentialUnusable(_ reason: String) { credential?.failed(reason) }

    /// Lets the credential's validity and the breaker decide whether there are connections.
    func followCredential(at moment: Moment) {
        guard let isHeld = credential?.timePassed(moment.wall / 1_000, inUse: devices.pool?.credential) else { return }
        devices.hold(isHeld, at: moment)
        for host in hosts.broadcastChannels where host.breaker.isHeld != isHeld { host.hold(isHeld, at: moment) }
        if !isHeld, !devices.breaker.isParked { devices.pool?.retryCredential(now: moment.monotonic) }
    }

    /// A new version of the credential was read. Each destination proves it for itself.
    ///
    /// - Returns: Why the route cannot use it; nil if it can.
    @discardableResult func offer(_ newest: APNSCredential, at moment: Moment) -> String? {
        if let mismatch = credential?.offered(newest) { return mismatch }
        // If there was no good version to lose, the pool has switched already.
        if devices.offer(newest, now: moment.monotonic) { credential?.refusalEnded() }
        for host in hosts.broadcastChannels { _ = host.offer(newest, now: moment.monotonic) }
        return nil
    }

    /// APNs refused a version on another route. Every connection made with that version is replaced.
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

    /// A destination's pool has news about the credential.
    ///
    /// - Returns: False only for the refusal of a version that was replaced already.
    func credentialEvent(_ event: CredentialEvent, on destination: Destination, at moment: Moment) -> Bool {
        let isRoute = destination.kind == .devices
        switch event {
        // A parked route asks with the new version at once.
        case .tried: destination.credentialReplaced()
        case .switched(let version) where isRoute:
            credential?.accepted(version)
            credential?.refusalEnded()
            credential?.candidateTroubleEnded()
            peers.tellOthers(.credential(.accepted(version: version)))
        case .candidateRefused(let version, let reason) where isRoute:
            credential?.candidateRefused(reason)
            peers.tellOthers(.credential(.candidateRefused(version: version, reason: reason)))
        case .retried where isRoute: credential?.candidateTroubleEnded()
        case .refused(let version, let reason, _):
            guard destination.pool?.isReplaced(version) != true else { return false }
            if isRoute {
                credential?.refused(reason)
                peers.tellOthers(.credential(.refused(version: version, reason: reason)))
            }
            // If an answer refused it, the destination hears of that answer next.
            destination.credentialRefused(.connection(reason), at: moment)
        case .switched, .candidateRefused, .retried: break
        }
        return true
    }

    /// The same route on another lane heard something about the credential.
    ///
    /// News about a version that is neither in use nor on trial here is ignored.
    func learn(_ news: CredentialNews, at moment: Moment) {
        func learned(_ verdict: CredentialVerdict, of version: Int) -> Bool {
            devices.pool?.learn(verdict, of: version, now: moment.monotonic) ?? false
        }
        switch news {
        case .accepted(let version):
            if learned(.accepted, of: version) { devices.credentialReplaced() }
            credential?.accepted(version)
            guard presentCredential?.version == version else { return }
            credential?.refusalEnded()
            credential?.candidateTroubleEnded()
            guard !devices.breaker.isTroubled, devices.breaker.state != .working else { return }
            devices.credentialReplaced()
            devices.breaker.credentialAccepted()
        case .candidateRefused(let version, let reason):
            if learned(.refused(.oneRoute), of: version) || credential?.giveUp(version) == true {
                credential?.candidateRefused(reason)
            }
        case .refused(let version, let reason):
            guard presentCredential?.version == version, !devices.breaker.isParked else { return }
            _ = learned(.refused(.oneRoute), of: version)
            guard presentCredential?.version == version else { return }
            credential?.refused(reason)
            devices.credentialRefused(.connection(reason), at: moment)
        }
    }

    /// Why the credential keeps the route from pushing, or what else is to be known about it, in one line each.
    var credentialTroubles: [String] {
        credential?.troubles(devices.breaker, isProving: devices.pool?.provingVersion != nil) ?? []
    }
}
