import APNSClient
import PushModel

// What a lane does when a credential changes or is refused.
extension Lane {
    /// A new version was read. Each route proves it for itself.
    func changed(_ credential: APNSCredential) {
        for route in routes where route.credential.name == credential.name {
            let mismatch = route.credential.offer(credential, at: moment)
            mark(route)
            if let mismatch { log.credentials.isUnfit(route, credential: credential.name, mismatch) }
        }
    }

    /// The files of a credential still cannot be used.
    func unusable(_ name: String, reason: String) {
        for route in routes where route.credential.name == name {
            route.credential.failed(reason)
            mark(route)
        }
    }

    /// APNs refused a version on another route.
    func refusedElsewhere(_ name: String, version: Int) {
        for route in routes where route.credential.name == name {
            route.credential.refusedElsewhere(version: version, at: moment)
            mark(route)
        }
    }

    /// A destination's pool has news about the route's credential. Only news from the pool for devices is logged.
    func credentialEvent(_ event: CredentialEvent, of route: Route, on destination: Destination) {
        let isNews = route.credential.happened(event, on: destination, at: moment)
        mark(route)
        guard destination.kind == .devices, let name = route.credential.name else { return }
        log.credentials.changed(event, name, of: route, isParked: isNews)
        if isNews, case .refused(let version, _, .everyRoute) = event,
            settings.credentials.noteRefused(name, version: version)
        {
            // In a turn of its own: the pools of other routes may be in the middle of something.
            handle.post(.credentialRefused(name: name, version: version))
        }
    }
}
