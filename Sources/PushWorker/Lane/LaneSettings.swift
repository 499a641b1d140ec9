internal import APNSClient
internal import PushModel
internal import RabbitMQ

/// Everything a lane is told at its start; shared by all lanes but for `index` and `routes`.
struct LaneSettings: Sendable {
    /// One of the lane's routes.
    struct RouteSettings: Sendable {
        /// The configured name, or `unrouted`.
        var name: String
        /// The queues it consumes, the high one last.
        var queues: [String]
        /// What may arrive there; nil for the route that answers `NoRoute`.
        var claim: RouteClaim?
        /// Opens connections to its APNs; nil together with `claim`.
        var connector: APNSConnector?
        /// The name of its credential; nil together with `claim`.
        var credential: String?
        /// Whether requests leave out the only topic of a certificate.
        var omitsTopic = false
        /// Opens connections to the host that broadcasts to channels.
        var broadcastConnector: APNSConnector?
        /// Opens connections to the host that manages channels; nil where the configuration names none.
        var managementConnector: APNSConnector?
        /// How many connections, or nil to follow the load.
        var connections: Int?
        /// Notifications per second, where limited.
        var rate: Double?
    }

    /// The lane's number, from 0.
    var index: Int
    /// The routes it works on.
    var routes: [RouteSettings]
    /// How many routes are configured, on whatever lane.
    var routeCount: Int
    /// The credentials that routes name.
    var credentials: CredentialStore
    /// Tells all lanes of the worker, this one included.
    var announce: @Sendable (LaneMessage) -> Void = { _ in }
    /// The worker's name, in results, dead letters and at the broker.
    var instance: String
    /// Brokers, tried in random order at each connect.
    var endpoints: [AMQPEndpoint]
    /// Decides what each answer leads to.
    var policy: RetryPolicy
    /// The names of the retry tiers, in the order of `policy.tiers`.
    var tierNames: [String]
    /// The program's version, which operators see at the broker.
    var version: String
    /// Which `reply_to` are allowed.
    var replyPattern: ReplyPattern
    /// Whether results name the device token.
    var includesDeviceToken: Bool
    /// A fixed prefetch, or nil to follow the connections.
    var prefetch: Int?
    /// How long a request may stay without an answer.
    var requestTimeout: Duration
    /// After how much silence a connection to APNs is asked whether it lives.
    var pingInterval: Duration
    /// Whether a journal is configured.
    var wantsJournal = false
    /// The worker's journal, while it is open.
    var journal: Journal?
}
