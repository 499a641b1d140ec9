/// The whole configuration of a worker. The environment wins over the file, and the file wins over the defaults.
///
/// ``ConfigurationLoader`` makes it and has checked each value. Only the files of some credentials may be unusable.
package struct WorkerConfiguration: Sendable {
    /// The memory for jobs where the configuration says nothing, in bytes.
    package static let standardJobMemory = 256 << 20
    /// The fewest bytes of an admin token: 16 random letters and digits cannot be guessed over a network.
    package static let shortestAdminToken = 16

    /// The name of this worker in results and logs; never empty.
    package var instance: String
    /// How the broker is reached.
    package var broker: BrokerConfiguration
    /// How APNs is reached.
    package var apns: APNSConfiguration
    /// The credentials that routes name.
    package var credentials: [CredentialConfiguration]
    /// The routes, in the order of the file; at least one.
    package var routes: [RouteConfiguration]
    /// Which of the routes this worker serves.
    package var share: RouteShare
    /// How many unacknowledged jobs the broker may hand out per queue of a route.
    package var prefetch: AutomaticOr<Int>
    /// How many bytes of jobs, headers and bodies, the worker may hold on all routes.
    package var jobMemory: Int
    /// When and how often a notification is tried again.
    package var retry: RetryConfiguration
    /// What results look like.
    package var results: ResultConfiguration
    /// The exchanges that may lead jobs to the worker beside `apns.jobs`, each trusted with every app.
    package var jobsFrom: [String]
    /// The POSIX extended regular expression that a job's `reply_to` must match; ``ReplyPattern`` compiles it.
    package var repliesAllow: String
    /// The directory in which accepted notifications are noted; nil for no journal.
    package var journal: String?
    /// Where the admin server listens; nil when it is switched off.
    package var adminListen: ListenAddress?
    /// The file whose first line is the admin server's bearer token; nil for none.
    package var adminTokenFile: String?
    /// Whether metrics have all their details for each route.
    package var metricsDetail: Bool
    /// Where spans of notifications go.
    package var tracing: TracingConfiguration
    /// What is logged, and how.
    package var log: LogConfiguration
    /// How long a stopping worker may take to finish what is in flight.
    package var shutdownGrace: Duration
    /// Settings that have no effect any more, each with what to do about it.
    package var warnings: [ConfigurationError] = []
}
