/// What differs between the configuration that a worker runs with and the one that was read again. Pure.
///
/// A setting is named by its key, and an entry of a list by its name, as in `routes[shop].rate`. Values are left out,
/// because some are secret.
package struct ConfigurationChange: Sendable {
    /// The keys that the running worker follows.
    package private(set) var followed: [String] = []
    /// The keys that change nothing before a restart.
    package private(set) var restart: [String] = []
    /// What the worker runs with from now on.
    package let running: WorkerConfiguration

    /// Compares two configurations.
    ///
    /// - Parameters:
    ///   - old: What the worker runs with.
    ///   - new: What was read now.
    package init(from old: WorkerConfiguration, to new: WorkerConfiguration) {
        var running = old
        running.log.level = new.log.level
        running.shutdownGrace = new.shutdownGrace
        running.broker.management = new.broker.management
        running.credentials = new.credentials
        running.routes = new.routes
        running.retry.holdingLimit = new.retry.holdingLimit
        self.running = running
        let keys = WorkerKeys.all
        compare(keys.logLevel, old.log.level, new.log.level, follows: true)
        compare(keys.shutdownGrace, old.shutdownGrace, new.shutdownGrace, follows: true)
        // The worker itself never asks the management API.
        compare(keys.broker.management, old.broker.management, new.broker.management, follows: true)
        compareCredentials(old.credentials, new.credentials)
        compareRoutes(old.routes, new.routes)
        compareWorkers(old, new)
        compareBrokers(old.broker, new.broker)
        compareAPNs(old.apns, new.apns)
    }

    private mutating func compare<Key, Value: Equatable>(
        _ key: SettingKey<Key>, _ old: Value, _ new: Value, follows: Bool = false
    ) {
        guard old != new else { return }
        if follows { followed.append(key.facts.path) } else { restart.append(key.facts.path) }
    }

    private mutating func compareCredentials(_ old: [CredentialConfiguration], _ new: [CredentialConfiguration]) {
        compareNames("credentials", old.map(\.name), new.map(\.name))
        for credential in new {
            guard let before = old.first(where: { $0.name == credential.name }), before != credential else { continue }
            followed.append("credentials[\(credential.name)] (changed)")
        }
    }

    private mutating func compareRoutes(_ old: [RouteConfiguration], _ new: [RouteConfiguration]) {
        compareNames("routes", old.map(\.name), new.map(\.name))
        let former = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        for route in new {
            guard let before = former[route.name] else { continue }
            let name = "routes[\(route.name)]"
            if !before.isSame(as: route) {
                followed.append("\(name) (changed)")
                continue
            }
            if before.rate != route.rate { followed.append("\(name).rate") }
            // The running worker does not use the queue: `martlet topology apply` makes it.
            if before.resultsQueue != route.resultsQueue { followed.append("\(name).results_queue") }
        }
    }

    private mutating func compareNames(_ list: String, _ old: [String], _ new: [String]) {
        followed += Set(new).subtracting(old).sorted().map { "\(list)[\($0)] (added)" }
        followed += Set(old).subtracting(new).sorted().map { "\(list)[\($0)] (removed)" }
    }

    private mutating func compareWorkers(_ old: WorkerConfiguration, _ new: WorkerConfiguration) {
        let keys = WorkerKeys.all
        compare(keys.instance, old.instance, new.instance)
        compare(keys.share, old.share, new.share)
        compare(keys.prefetch, old.prefetch, new.prefetch)
        compare(keys.jobMemory, old.jobMemory, new.jobMemory)
        compare(keys.retry.tiers, old.retry.tiers, new.retry.tiers)
        compare(keys.retry.holdingTiers, old.retry.holdingTiers, new.retry.holdingTiers)
        // The running worker does not use the limit: `martlet topology apply` sets it.
        compare(keys.retry.holdingLimit, old.retry.holdingLimit, new.retry.holdingLimit, follows: true)
        compare(keys.retry.maxAttempts, old.retry.maxAttempts, new.retry.maxAttempts)
        compare(keys.retry.maxAge, old.retry.maxAge, new.retry.maxAge)
        compare(keys.results.batch, old.results.batch, new.results.batch)
        compare(keys.results.deviceToken, old.results.deviceToken, new.results.deviceToken)
        compare(keys.results.queues, old.results.queues, new.results.queues)
        compare(keys.jobsFrom, old.jobsFrom, new.jobsFrom)
        compare(keys.repliesAllow, old.repliesAllow, new.repliesAllow)
        compare(keys.journal, old.journal, new.journal)
        compare(keys.adminListen, old.adminListen, new.adminListen)
        compare(keys.adminTokenFile, old.adminTokenFile, new.adminTokenFile)
        compare(keys.metricsDetail, old.metricsDetail, new.metricsDetail)
        compare(keys.tracingEndpoint, old.tracing.endpoint, new.tracing.endpoint)
        compare(keys.tracingServiceName, old.tracing.serviceName, new.tracing.serviceName)
        compare(keys.logFormat, old.log.format, new.log.format)
    }

    private mutating func compareBrokers(_ old: BrokerConfiguration, _ new: BrokerConfiguration) {
        let keys = WorkerKeys.all.broker
        // A file with addresses is read again for each connection, so its addresses need no restart.
        if old.uriFile != new.uriFile || new.uriFile == nil { compare(keys.uri, old.uris, new.uris) }
        compare(keys.passwordFile, old.passwordFile, new.passwordFile)
        compare(keys.allowPlaintext, old.allowsPlaintext, new.allowsPlaintext)
        compare(keys.heartbeat, old.heartbeat, new.heartbeat)
        compare(keys.caFile, old.tls.caFile, new.tls.caFile)
        compare(keys.certFile, old.tls.certFile, new.tls.certFile)
        compare(keys.keyFile, old.tls.keyFile, new.tls.keyFile)
    }

    private mutating func compareAPNs(_ old: APNSConfiguration, _ new: APNSConfiguration) {
        let keys = WorkerKeys.all.apns
        compare(keys.production, old.production, new.production)
        compare(keys.development, old.development, new.development)
        compare(keys.trustFile, old.trustFile, new.trustFile)
        compare(keys.requestTimeout, old.requestTimeout, new.requestTimeout)
        compare(keys.pingInterval, old.pingInterval, new.pingInterval)
        compare(keys.idle, old.idle, new.idle)
        compare(keys.connectRate, old.connectRate, new.connectRate)
        compare(keys.connectBurst, old.connectBurst, new.connectBurst)
        compare(keys.proxy, old.proxy, new.proxy)
        compare(keys.broadcastProduction, old.broadcast.production, new.broadcast.production)
        compare(keys.broadcastDevelopment, old.broadcast.development, new.broadcast.development)
        compare(keys.broadcastChannelsProduction, old.broadcastChannels.production, new.broadcastChannels.production)
        compare(keys.broadcastChannelsDevelopment, old.broadcastChannels.development, new.broadcastChannels.development)
    }
}

extension RouteConfiguration {
    /// Whether a running route can go on unchanged: at most its rate and the queue for copies of its results differ.
    package func isSame(as other: RouteConfiguration) -> Bool {
        var other = other
        other.rate = rate
        // It means nothing without a queue for `high` jobs.
        if !highLane { other.highShare = highShare }
        other.resultsQueue = resultsQueue
        return self == other
    }
}
