import APNSClient
import PushModel
import TraceExport
import WorkerSettings

/// Everything the lane is told at its start.
struct LaneSettings: Sendable {
    /// One of the lane's routes.
    struct RouteSettings: Sendable {
        /// The configured name, or `unrouted`.
        var name: String
        /// Its number in the worker.
        var number = 0
        /// The queues it consumes: the one for retries first, the high one last.
        var queues: [String]
        /// What may arrive in these queues; nil for the route that answers `NoRoute`.
        var claim: RouteClaim?
        /// Opens connections to its APNs; nil together with `claim`.
        var connector: APNSConnector?
        /// The name of its credential; nil together with `claim`.
        var credential: String?
        /// Why the route cannot use a version of its credential; nil if it can.
        var mismatch: @Sendable (APNSCredential) -> String? = { _ in nil }
        /// Whether requests leave out the only topic of a certificate.
        var omitsTopic = false
        /// Opens connections to the host that publishes to broadcast channels; nil where the configuration names none.
        var broadcastConnector: APNSConnector?
        /// Opens connections to the host that manages broadcast channels; nil where the configuration names none.
        var managementConnector: APNSConnector?
        /// How many connections it has.
        var connections = APNSConnectionCount.automatic(maximum: APNSPoolConfiguration.automaticMaximum)
        /// How many percent of the requests are kept for `high` jobs, if these have a queue of their own.
        var highShare = RouteConfiguration.standardHighShare
        /// The most notifications per second; nil for no limit.
        var rate: Double?
        /// How many of its results the configuration wants in one message.
        var resultsBatch = 1
        /// What it knows of dead tokens. Readers of reports look into it, too.
        var deadTokens = SharedDeadTokens()
    }

    /// The routes it works on.
    var routes: [RouteSettings]
    /// How many routes are configured at the start.
    var routeCount: Int
    /// The credentials that routes name.
    var credentials: CredentialStore
    /// Hears that the lane is done with a route that was removed, by the route's number.
    var routeLeft: @Sendable (Int) -> Void = { _ in }
    /// Whether the lane will be told what operators want, and its routes wait for that.
    var awaitsControl = false
    /// The worker's name, in results, dead letters and at the broker.
    var instance: String
    /// The brokers. Each connect looks them up, and tries them in random order.
    var broker: BrokerConfiguration
    /// Decides what follows from each answer.
    var policy: RetryPolicy
    /// The names of the tiers, in the order of `policy.allTiers`.
    var tierNames: [String]
    /// The program's version, which operators see at the broker.
    var version: String
    /// The exchanges that may lead jobs to the worker, beside ours.
    var jobsFrom: [String] = []
    /// Which `reply_to` are allowed.
    var replyPattern: ReplyPattern
    /// Whether results name the device token.
    var includesDeviceToken: Bool
    /// How many queues the results are spread over, at least 1.
    var resultsQueues = 1
    /// A fixed prefetch, or nil to follow the connections.
    var prefetch: Int?
    /// The memory for jobs, which all routes share.
    var memory = SharedMemoryBudget()
    /// How pools of connections behave, apart from what their route decides.
    var pool: APNSPoolConfiguration
    /// After how long without a push a route's connections to devices are closed.
    var idle = APNSConfiguration.standardIdle
    /// How long a confirm of the broker is awaited.
    var confirmPatience = ConfirmPatience.usual
    /// How long the broker may owe an answer on a route's channel.
    var requestPatience = RouteConsumer.patience
    /// How long results may be unable to go out before jobs that were not sent are handed back.
    var heldUpLimit = Publisher.heldUpLimit
    /// How long a lane may stand still before its connections to the broker count as lost; nil for two heartbeats.
    var standstill: Duration?
    /// Where spans of notifications go; nil where no collector is configured.
    var spans: SpanQueue?
    /// Whether a journal is configured.
    var wantsJournal = false
    /// The worker's journal, while it is open.
    var journal: Journal?
}
