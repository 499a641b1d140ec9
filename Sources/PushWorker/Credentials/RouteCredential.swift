import APNSClient
import PushModel

/// What a route knows about its credential, apart from what its pool knows.
struct RouteCredential {
    /// The credential's name in the configuration.
    let name: String
    /// Why the route cannot use a version, for instance a certificate of another app; nil if it can.
    private let mismatch: (APNSCredential) -> String?
    /// The newest version that was read and that the route can use.
    private(set) var newest: APNSCredential?
    /// The version with which the route opens connections while it has none. At first this is the first version that
    /// was read. Later it is one that was proved, or one that replaced a version that was refused or is not valid.
    private(set) var trusted: APNSCredential?
    /// A version that was given up. APNs may accept it later.
    private(set) var spare: APNSCredential?
    /// Why APNs refuses the credential, in the words of its answer or of the connection's error; nil while APNs does
    /// not refuse it.
    private(set) var refusal: String?
    /// Why the route cannot use the files: they are unusable, or do not fit the route; nil once it could use them.
    private(set) var unusable: String?
    /// Why the credential is not valid now; nil while it is.
    private(set) var untimely: String?
    /// Why the route does not use the version that was read last; nil unless APNs refused it or it does not fit the
    /// route.
    private(set) var candidateTrouble: String?

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
    /// - Returns: Why the route cannot use it; nil if it can. A route that cannot use it goes on with the version
    ///   before. With another app's certificate, APNs would refuse every push for good.
    @discardableResult mutating func offered(_ version: APNSCredential) -> String? {
        candidateTrouble = nil
        if let reason = mismatch(version) {
            if trusted == nil {
                unusable = reason
            } else {
                candidateTrouble =
                    "the new version of credential \(version.name) is not used: \(reason); the one before stays in use"
            }
            return reason
        }
        newest = version
        unusable = nil
        spare = nil
        // There is no good version to lose.
        if trusted == nil || refusal != nil { trusted = version }
        return nil
    }

    /// Time passed. A version that is not valid now stays trusted only if no other known version is valid.
    ///
    /// - Parameters:
    ///   - seconds: Seconds since 1970.
    ///   - inUse: The version that the connections to devices use; nil without connections.
    /// - Returns: Whether nothing may be sent with the credential now.
    @discardableResult mutating func timePassed(_ seconds: Int64, inUse: APNSCredential? = nil) -> Bool {
        trustAnother(at: seconds)
        let reason = (inUse ?? trusted)?.untimely(at: seconds)
        if untimely != reason { untimely = reason }
        return reason != nil || unusable != nil
    }

    private mutating func trustAnother(at seconds: Int64) {
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

    /// A pool that proves no version is about to be closed. The next pool goes on with its versions.
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

    // MARK: What is said against it

    /// APNs refuses the version that is in use.
    mutating func refused(_ reason: String) { refusal = reason }

    /// APNs accepts the version that is in use, or another one is in use now.
    mutating func refusalEnded() { refusal = nil }

    /// APNs refuses the newest version, and the one before stays in use.
    mutating func candidateRefused(_ reason: String) {
        candidateTrouble = "APNs refuses the new version of credential \(name): \(reason); the one before stays in use"
    }

    /// The newest version is in use, or is tried again.
    mutating func candidateTroubleEnded() { candidateTrouble = nil }

    /// Why the credential keeps the route from pushing, and what else operators should know about it, in one line each.
    ///
    /// - Parameters:
    ///   - breaker: The breaker of the host for devices.
    ///   - isProving: Whether the connections prove a new version.
    func troubles(_ breaker: RouteBreaker, isProving: Bool) -> [String] {
        var troubles: [String] = []
        if let unusable { troubles.append("parked: the credential \(name) cannot be used: \(unusable)") }
        if let untimely { troubles.append("parked: \(untimely)") }
        let reason = refusal.map { ": \($0)" } ?? ""
        switch breaker.state {
        case _ where breaker.isTroubled && breaker.state != .working: break
        case .parked: troubles.append("parked: APNs refuses the credential \(name)\(reason)")
        case .probing where refusal == nil:
            troubles.append("probing: the next job shows whether APNs accepts the credential \(name)")
        case .probing: troubles.append("probing: APNs refused the credential \(name)\(reason)")
        case .working: break
        }
        if let candidateTrouble { troubles.append(candidateTrouble) }
        if isProving {
            troubles.append("the next push shows whether APNs accepts the new version of credential \(name)")
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
