import APNSClient
import EventLoop
import PushModel

/// What a route knows about its credential, apart from what its pool knows.
struct RouteCredential {
    /// The credential's name in the configuration.
    let name: String
    /// Why the route cannot use a version, for instance a certificate of another app; nil if it can.
    private let mismatch: (APNSCredential) -> String?
    /// The newest version that was read and that the route can use.
    private(set) var newest: APNSCredential?
    /// The version that the route uses when it opens connections and has none: the first that was read, or one that was
    /// proved since.
    private(set) var trusted: APNSCredential?
    /// A version that was given up. APNs may accept it later.
    private(set) var spare: APNSCredential?
    /// Why APNs refuses the credential, in APNs' words; nil while APNs does not.
    var refusal: String?
    /// Why its files cannot be used; nil once they could.
    private(set) var unusable: String?
    /// Why the credential is not valid now; nil while it is.
    var untimely: String?
    /// Why a newer version was not taken; nil after one was.
    var candidateTrouble: String?

    /// Starts with a version about which nothing is known.
    ///
    /// - Parameters:
    ///   - name: The credential's name in the configuration.
    ///   - newest: The version; nil where the files cannot be used.
    ///   - unusable: Why they cannot be used.
    ///   - mismatch: Why the route cannot use a version; nil if it can.
    init(
        name: String, newest: APNSCredential? = nil, unusable: String? = nil,
        mismatch: @escaping (APNSCredential) -> String? = { _ in nil }
    ) {
        self.name = name
        self.mismatch = mismatch
        let unfit = newest.flatMap(mismatch)
        self.newest = unfit == nil ? newest : nil
        self.unusable = unusable ?? unfit
        trusted = self.newest
    }

    /// The files still cannot be used.
    mutating func failed(_ reason: String) {
        if unusable != nil { unusable = reason }
    }

    /// A new version was read.
    ///
    /// - Returns: Why the route cannot use it, and goes on with what it had; nil if it can. With another app's certificate
    ///   APNs would refuse every push for good.
    @discardableResult mutating func offered(_ version: APNSCredential) -> String? {
        if let reason = mismatch(version) {
            if trusted == nil { unusable = reason }
            return reason
        }
        newest = version
        unusable = nil
        spare = nil
        // There is no good version to lose.
        if trusted == nil || refusal != nil { trusted = version }
        return nil
    }

    /// Time passed. A version that is not valid now stays trusted only if there is no other.
    ///
    /// - Parameter seconds: Seconds since 1970.
    mutating func timePassed(_ seconds: Int64) {
        guard let trusted, trusted.untimely(at: seconds) != nil else { return }
        if let newest, newest !== trusted {
            if newest.untimely(at: seconds) == nil { self.trusted = newest }
        } else if let other = spare, other.untimely(at: seconds) == nil {
            self.trusted = other
            newest = other
            // The old version is kept, because this machine's clock may be wrong.
            spare = trusted
        }
    }

    /// The pool is closed with no proof under way. The next one goes on with the versions that this one had.
    mutating func keep(_ pool: APNSPool) {
        trusted = pool.credential
        newest = pool.credential
        spare = pool.spare
    }

    /// APNs accepted a version.
    mutating func accepted(_ version: Int) {
        if let other = spare, other.version == version {
            newest = other
            spare = nil
        }
        if newest?.version == version { trusted = newest }
    }

    /// APNs refused a new version. The one before stays.
    ///
    /// - Returns: Whether this lane would have tried the version.
    mutating func giveUp(_ version: Int) -> Bool {
        guard newest?.version == version, trusted?.version != version else { return false }
        spare = newest
        newest = trusted
        return true
    }
}

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
        let other = ([devices] + broadcastHosts).lazy.compactMap(\.pool).first
        return OpeningCredentials(
            present: other?.credential ?? present, newest: newest, spare: other.map(\.spare) ?? credential.spare)
    }

    /// The credential's files still cannot be used.
    func credentialUnusable(_ reason: String) { credential?.failed(reason) }

    /// Lets the credential's validity and the breaker decide whether there are connections.
    func followCredential(at moment: Moment) {
        credential?.timePassed(moment.wall / 1_000)
        guard let known = credential else { return }
        let untimely = presentCredential?.untimely(at: moment.wall / 1_000)
        if known.untimely != untimely { credential?.untimely = untimely }
        let isHeld = untimely != nil || known.unusable != nil
        devices.hold(isHeld, at: moment)
        for host in broadcastHosts where host.breaker.isHeld != isHeld { host.hold(isHeld, at: moment) }
        if !isHeld, !devices.breaker.isParked { devices.pool?.retryCredential(now: moment.monotonic) }
    }

    /// A new version of the credential was read. Each destination proves it for itself.
    ///
    /// - Returns: Why the route cannot use it; nil if it can.
    @discardableResult func offer(_ newest: APNSCredential, at moment: Moment) -> String? {
        credential?.candidateTrouble = nil
        if let mismatch = credential?.offered(newest) {
            if credential?.trusted != nil {
                credential?.candidateTrouble =
                    "the new version of credential \(newest.name) is not used: \(mismatch); the one before stays in use"
            }
            return mismatch
        }
        // If there was no good version to lose, the pool has switched already.
        if devices.offer(newest, now: moment.monotonic) { credential?.refusal = nil }
        for host in broadcastHosts { _ = host.offer(newest, now: moment.monotonic) }
        return nil
    }

    /// APNs refused a version on another route. Every connection made with that version is replaced.
    func refusedElsewhere(version: Int, at moment: Moment) {
        guard !devices.breaker.isParked, devices.pool?.credential.version == version else { return }
        for destination in [devices] + broadcastHosts where destination.pool?.credential.version == version {
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
            credential?.refusal = nil
            credential?.candidateTrouble = nil
            peers.tellOthers(.credential(.accepted(version: version)))
        case .candidateRefused(let version, let reason) where isRoute:
            candidateRefused(reason)
            peers.tellOthers(.credential(.candidateRefused(version: version, reason: reason)))
        case .retried where isRoute: credential?.candidateTrouble = nil
        case .refused(let version, let reason, _):
            guard destination.pool?.isReplaced(version) != true else { return false }
            if isRoute {
                credential?.refusal = reason
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
            credential?.refusal = nil
            credential?.candidateTrouble = nil
            guard !devices.breaker.isTroubled, devices.breaker.state != .working else { return }
            devices.credentialReplaced()
            devices.breaker.credentialAccepted()
        case .candidateRefused(let version, let reason):
            if learned(.refused(.oneRoute), of: version) || credential?.giveUp(version) == true {
                candidateRefused(reason)
            }
        case .refused(let version, let reason):
            guard presentCredential?.version == version, !devices.breaker.isParked else { return }
            _ = learned(.refused(.oneRoute), of: version)
            guard presentCredential?.version == version else { return }
            credential?.refusal = reason
            devices.credentialRefused(.connection(reason), at: moment)
        }
    }

    private func candidateRefused(_ reason: String) {
        let name = credential?.name ?? ""
        credential?.candidateTrouble =
            "APNs refuses the new version of credential \(name): \(reason); the one before stays in use"
    }

    /// Why the credential keeps the route from pushing, or what else is to be known about it, in one line each.
    var credentialTroubles: [String] {
        guard let credential else { return [] }
        var troubles: [String] = []
        if let unusable = credential.unusable {
            troubles.append("parked: the credential \(credential.name) cannot be used: \(unusable)")
        }
        if let untimely = credential.untimely { troubles.append("parked: \(untimely)") }
        let reason = credential.refusal.map { ": \($0)" } ?? ""
        switch devices.breaker.state {
        case _ where devices.breaker.isTroubled && devices.breaker.state != .working: break
        case .parked: troubles.append("parked: APNs refuses the credential \(credential.name)\(reason)")
        case .probing where credential.refusal == nil:
            troubles.append("probing: the next job shows whether APNs accepts the credential \(credential.name)")
        case .probing: troubles.append("probing: APNs refused the credential \(credential.name)\(reason)")
        case .working: break
        }
        if let trouble = credential.candidateTrouble { troubles.append(trouble) }
        if devices.pool?.provingVersion != nil {
            troubles.append("the next push shows whether APNs accepts the new version of credential \(credential.name)")
        }
        return troubles
    }
}

extension APNSCredential {
    /// Why the credential is not valid, and what to do; nil while it is valid.
    ///
    /// - Parameter seconds: Seconds since 1970.
    func untimely(at seconds: Int64) -> String? {
        guard let validity, !validity.contains(seconds) else { return nil }
        if seconds < validity.lowerBound {
            let first = LogTime(milliseconds: validity.lowerBound * 1_000).toTheSecond
            return "the certificate of \(name) is not valid before \(first): check this machine's clock"
        }
        let last = LogTime(milliseconds: validity.upperBound * 1_000).toTheSecond
        return "the certificate of \(name) expired \(last): replace its file"
    }
}
