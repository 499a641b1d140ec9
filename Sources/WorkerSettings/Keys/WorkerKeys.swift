import Logging
import PushModel
import Topology

/// Every key of the configuration, in the order of the example file.
///
/// A new key is a property here, or in the section it belongs to; nothing else lists the keys. They are found among the
/// properties, as the argument parser finds options.
struct WorkerKeys: Sendable {
    /// A key with any type of value. The keys are found among the properties by this protocol.
    protocol DescribedKey {
        /// What is known of the key.
        var facts: KeyFacts { get }
    }

    /// The keys.
    static let all = WorkerKeys()
    /// What is known of each key.
    static let facts = facts(of: all)
    /// The keys that have an effect.
    static let present = facts.filter { !$0.isGone }

    /// The upper limit of ping intervals, idle times and tiers: 1 day.
    static let day = Duration.seconds(86_400)

    let instance = SettingKey(
        "instance", .name(0...100, "at most 100"), default: "", meaning: "host name and 4 hexadecimal digits",
        "the worker's name in results and logs")
    let broker = BrokerKeys()
    let apns = APNSKeys()
    let credentials = CredentialKeys()
    let routes = RouteKeys()
    let share = SettingKey(
        "share", .share, default: .all, "which routes the worker serves; with a share, two workers serve each route")
    let lanes = SettingKey(gone: "lanes", .automatic(1...256), default: .automatic)
    let prefetch = SettingKey(
        "prefetch", .automatic(1...65_535), default: .automatic,
        meaning: "what the connections to APNs take, 1 before the first of them",
        "unacknowledged jobs per queue")
    // The lower limit is as much as 64 of the largest jobs.
    let jobMemory = SettingKey(
        "memory.jobs", .size((16 << 20)...(1 << 40)), default: WorkerConfiguration.standardJobMemory,
        "headers and bodies of jobs that the worker holds, on all routes")
    let retry = RetryKeys()
    let results = ResultKeys()
    let jobsFrom = SettingKey(
        "jobs.from", .list(.jobExchange, of: "exchange"), without: "jobs come only by `\(TopologyNames.jobs)`",
        "exchanges beside `\(TopologyNames.jobs)` that may lead jobs to workers, each trusted with every app")
    let repliesAllow = SettingKey(
        "replies.allow", .pattern, default: "^apns\\.q\\.reply\\..+$",
        "which `reply_to` of jobs are answered")
    let journal = SettingKey(
        "journal", .path("a directory of its own for each worker"),
        "notes of what APNs accepted, so that a worker that was killed and started again pushes less twice")
    let adminListen = SettingKey(
        "admin.listen", .listenAddress, default: ListenAddress(host: "127.0.0.1", port: 9464),
        "where `/livez`, `/readyz` and `/metrics` are; one for each worker of a machine")
    let adminTokenFile = SettingKey(
        "admin.token_file", .path("first line of \(WorkerConfiguration.shortestAdminToken) characters or more"),
        "the bearer token; needed to listen beyond this machine")
    let metricsDetail = SettingKey(
        "metrics.detail", .boolean, default: false,
        "whether all metrics are written for each route: some 100 time series instead of 29")
    let tracingEndpoint = SettingKey(
        "tracing.endpoint", .collectorAddress, without: "no spans",
        "the OpenTelemetry collector that takes spans of jobs with `traceparent`, over OTLP/HTTP")
    let tracingServiceName = SettingKey(
        "tracing.service_name", .name(1...100, "at most 100"), default: "martlet",
        "the name under which the collector shows the workers")
    let logLevel = SettingKey(
        "log.level", .choice(Logger.Level.self), default: .info, "the least level that is written")
    let logFormat = SettingKey(
        "log.format", .choice(LogConfiguration.Format.self), default: .automatic,
        meaning: "text on a terminal, JSON elsewhere", "how a line looks")
    let shutdownGrace = SettingKey(
        "shutdown.grace", .duration(.seconds(1)...(.seconds(3600))), default: .seconds(45),
        "how long a stopping worker may take to finish what is in flight")

    /// Collects what is known of the keys among the properties of a section, and of the sections in it.
    private static func facts(of section: Any) -> [KeyFacts] {
        Mirror(reflecting: section).children.flatMap { child in
            (child.value as? any DescribedKey).map { [$0.facts] } ?? facts(of: child.value)
        }
    }
}

extension SettingKey: WorkerKeys.DescribedKey {}
