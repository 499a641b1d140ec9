/// Collects what is wrong, so that one run reports everything. Used by one loader on one thread.
final class ConfigurationProblems {
    /// What was found so far.
    private(set) var errors: [ConfigurationError] = []
    /// The names of credentials whose files cannot be used. Only the routes of these credentials cannot work.
    private(set) var unusableCredentials: Set<String> = []
    /// The names of routes whose certificates are for something else. Only these routes cannot work.
    private(set) var unservedRoutes: Set<String> = []
    private var credentialErrors = 0
    /// What has no effect any more. It keeps nothing from working.
    var warnings: [ConfigurationError] = []

    /// Whether every problem is about a credential: its files cannot be used, or its certificate is not for a route.
    var areOnlyCredentials: Bool { errors.count == credentialErrors }

    /// Notes one problem.
    func add(_ origin: ConfigurationOrigin, _ message: String) {
        errors.append(ConfigurationError(origin: origin, message: message))
    }

    /// Notes that the files of a credential cannot be used.
    func add(_ origin: ConfigurationOrigin, _ message: String, credential: String) {
        add(origin, message)
        credentialErrors += 1
        unusableCredentials.insert(credential)
    }

    /// Notes that a certificate is not for a route.
    func add(_ origin: ConfigurationOrigin, _ message: String, route: String) {
        add(origin, message)
        credentialErrors += 1
        unservedRoutes.insert(route)
    }

    /// Notes problems found elsewhere.
    func add(_ more: [ConfigurationError]) {
        errors += more
    }
}
