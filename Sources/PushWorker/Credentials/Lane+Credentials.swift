internal import APNSClient
internal import EventLoop
internal import Logging
internal import PushModel

// What a lane does when a credential changes, is refused, or its clock turns out wrong.
extension Lane {
    /// A new version was read: each route proves it for itself.
    func changed(_ credential: APNSCredential) {
        for route in routes where route.credential?.name == credential.name {
            mark(route)
            route.credential?.candidateTrouble = nil
            route.pool?.offer(credential, now: now)
            for host in route.channelHosts { host.offer(credential, now: now) }
            // Where nothing good was lost the pool has switched already.
            guard route.pool?.credential === credential else { continue }
            route.credential?.refusal = nil
            route.breaker.credentialReplaced()
        }
    }

    /// APNs refused a version on another route: connections made with it are replaced, so that none of them outlives it.
    func refusedElsewhere(_ name: String, version: Int) {
        for route in routes where route.credential?.name == name && !route.breaker.isParked {
            guard let pool = route.pool, pool.credential.version == version else { continue }
            pool.refreshCredential(now: now)
            for host in route.channelHosts where host.pool?.credential.version == version {
                host.pool?.refreshCredential(now: now)
            }
            mark(route)
        }
    }

    /// A route's pool has news about its credential.
    func credentialEvent(_ event: CredentialEvent, of route: Route) {
        guard let name = route.credential?.name else { return }
        let metadata: (Int, String?) -> Logger.Metadata = { version, reason in
            var metadata = Logger.Metadata.with([
                .route: "\(route.name)", .credential: "\(name)", .version: "\(version)",
            ])
            if let reason { metadata.merge(.with([.reason: "\(reason)"])) { _, new in new } }
            return metadata
        }
        switch event {
        case .tried(let version):
            // A route that was parked asks with the new version at once.
            route.breaker.credentialReplaced()
            logger.notice(
                "the new credential has a connection and is used from now on: the next answer of APNs proves it",
                metadata: metadata(version, nil))
        case .switched(let version):
            route.credential?.refusal = nil
            route.credential?.candidateTrouble = nil
            logger.notice("APNs accepts the new credential: it is used from now on", metadata: metadata(version, nil))
        case .candidateRefused(let version, let reason):
            route.credential?.candidateTrouble =
                "APNs refuses the new version of credential \(name): \(reason); the one before stays in use"
            logger.error(
                "APNs refuses the new credential: the one before stays in use", metadata: metadata(version, reason))
        case .retried(let version):
            route.credential?.candidateTrouble = nil
            logger.notice(
                "the credential in use is no longer good: the version that was refused before is tried again",
                metadata: metadata(version, nil))
        case .refused(let version, let reason, _) where route.pool?.isReplaced(version) == true:
            logger.error(
                "APNs refuses the credential: its new version is used without a proof",
                metadata: metadata(version, reason))
        case .refused(let version, let reason, let scope):
            route.credential?.refusal = reason
            route.breaker.credentialRefused(now: now.nanoseconds)
            logger.error(
                "APNs refuses the credential: the route is parked, and its connections are closed",
                metadata: metadata(version, reason))
            if scope == .everyRoute, settings.credentials.noteRefused(name, version: version) {
                settings.announce(.credentialRefused(name: name, version: version))
            }
        }
        mark(route)
    }

    /// Reports a clock that differs from APNs' by so much that provider tokens are in danger.
    ///
    /// - Parameters:
    ///   - skew: Seconds by which this clock is ahead of APNs', as the route's connections know it.
    ///   - route: The route.
    func watchClock(_ skew: Int64, of route: Route) {
        route.counters.clockSkew = Int(clamping: skew)
        guard let isWrong = route.credential?.clock.learned(skew) else { return }
        let metadata = Logger.Metadata.with([.route: "\(route.name)", .detail: "\(skew) s ahead of APNs"])
        if isWrong {
            logger.error(
                "this machine's clock is wrong: APNs refuses provider tokens that are an hour off", metadata: metadata)
        } else {
            logger.notice("this machine's clock agrees with APNs' again", metadata: metadata)
        }
    }
}
