import APNSClient
import EventLoop
import Logging
import PushModel

// What a lane does when a credential changes, is refused, or its clock turns out wrong.
extension Lane {
    /// A new version was read. Each route proves it for itself.
    func changed(_ credential: APNSCredential) {
        for route in routes where route.credentialName == credential.name {
            let mismatch = route.offer(credential, at: moment)
            mark(route)
            guard let mismatch, route.isFirstLane else { continue }
            logger.error(
                "the route cannot use the new credential, and goes on with the one before if there is one",
                metadata: .with([
                    .route: "\(route.name)", .credential: "\(credential.name)", .reason: "\(mismatch)",
                ]))
        }
    }

    /// Logs why a route begins without a credential, where its files can be used for other routes.
    func sayUnfit(_ route: Route) {
        guard route.isFirstLane, let name = route.credentialName, let reason = route.credentialDefect,
            settings.credentials.unusable(name) == nil
        else { return }
        logger.error(
            "the route cannot use its credential: it is parked until the files are replaced",
            metadata: .with([
                .route: "\(route.name)", .credential: "\(name)", .reason: "\(reason)",
            ]))
    }

    /// The files of a credential still cannot be used.
    func unusable(_ name: String, reason: String) {
        for route in routes where route.credentialName == name {
            route.credentialUnusable(reason)
            mark(route)
        }
    }

    /// APNs refused a version on another route.
    func refusedElsewhere(_ name: String, version: Int) {
        for route in routes where route.credentialName == name {
            route.refusedElsewhere(version: version, at: moment)
            mark(route)
        }
    }

    /// A destination's pool has news about the route's credential. Only news from the pool for devices is logged.
    func credentialEvent(_ event: CredentialEvent, of route: Route, on destination: Destination) {
        let isNews = route.credentialEvent(event, on: destination, at: moment)
        mark(route)
        guard destination.kind == .devices, let name = route.credentialName else { return }
        // Every lane of the route tries a version by itself. Only the first lane logs it.
        switch event {
        case .tried, .retried: if !route.isFirstLane { return }
        case .switched, .candidateRefused, .refused: break
        }
        let metadata: (Int, String?) -> Logger.Metadata = { version, reason in
            var metadata = Logger.Metadata.with([
                .route: "\(route.name)", .credential: "\(name)", .version: "\(version)",
            ])
            if let reason { metadata.merge(.with([.reason: "\(reason)"])) { _, new in new } }
            return metadata
        }
        switch event {
        case .tried(let version):
            logger.notice(
                "the new credential has a connection and is used from now on: the next answer of APNs proves it",
                metadata: metadata(version, nil))
        case .switched(let version):
            logger.notice("APNs accepts the new credential: it is used from now on", metadata: metadata(version, nil))
        case .candidateRefused(let version, let reason):
            logger.error(
                "APNs refuses the new credential: the one before stays in use", metadata: metadata(version, reason))
        case .retried(let version):
            logger.notice(
                "the credential in use is no longer good: the version that was refused before is tried again",
                metadata: metadata(version, nil))
        case .refused(let version, let reason, _) where !isNews:
            logger.error(
                "APNs refuses the credential: its new version is used without a proof",
                metadata: metadata(version, reason))
        case .refused(let version, let reason, let scope):
            logger.error(
                "APNs refuses the credential: the route is parked, and its connections are closed",
                metadata: metadata(version, reason))
            if scope == .everyRoute, settings.credentials.noteRefused(name, version: version) {
                settings.announce(.credentialRefused(name: name, version: version))
            }
        }
    }

    /// Reports a clock that is so far from APNs' that provider tokens are in danger.
    ///
    /// - Parameter route: A route whose connections have seen APNs' clock.
    func watchClock(of route: Route) {
        guard let (skew, isWrong) = route.learnClock() else { return }
        let metadata = Logger.Metadata.with([.route: "\(route.name)", .detail: "\(skew) s ahead of APNs"])
        if isWrong {
            logger.error(
                "this machine's clock is wrong: APNs refuses provider tokens that are an hour off", metadata: metadata)
        } else {
            logger.notice("this machine's clock agrees with APNs' again", metadata: metadata)
        }
    }
}
