/// The names of the broker's objects that do not depend on the configuration.
package enum TopologyNames {
    /// Where producers publish.
    package static let jobs = "apns.jobs"
    /// Where jobs go while the binding of their key moves from one queue to another.
    package static let movingJobs = "apns.jobs.moving"
    /// Where jobs go when no queue is bound to their key.
    package static let unroutedJobs = "apns.jobs.unrouted"
    /// The queue of ``unroutedJobs``.
    package static let unroutedJobsQueue = "apns.q.jobs.unrouted"
    /// Where workers publish results.
    package static let results = "apns.results"
    /// The default monitoring queue, and the first of several.
    package static let resultsQueue = "apns.q.results"
    /// What the name of a queue begins with that gets a copy of some routes' results.
    package static let resultsPrefix = "apns.q.results."
    /// Where results go that are bound to no queue.
    package static let unclaimedResults = "apns.results.unclaimed"
    /// The queue of ``unclaimedResults``.
    package static let unclaimedResultsQueue = "apns.q.results.unclaimed"
    /// Where dead letters are published.
    package static let dead = "apns.dead"
    /// The queue of dead letters.
    package static let deadQueue = "apns.q.dead"
    /// The queue of the dead letters of dead tokens.
    package static let deadTokensQueue = "apns.q.dead.tokens"
    /// Where replies to a job's `reply_to` are published.
    package static let replies = "apns.replies"
    /// Where workers that find their shares of the routes by themselves report that they live.
    package static let fleet = "apns.fleet"
    /// The stream of ``fleet``, which each of them reads.
    package static let fleetQueue = "apns.q.fleet"
    /// Where operators publish what they ask of all workers.
    package static let control = "apns.control"
    /// The stream of ``control``, which every worker reads.
    package static let controlQueue = "apns.q.control"

    /// Where retry tiers send jobs that have waited.
    package static let returns = "apns.return"
    /// Where jobs from retry tiers go while their key's binding moves.
    package static let movingReturns = "apns.return.moving"
    /// The exchanges whose bindings move, each by way of its alternate exchange.
    static let moving = [jobs: movingJobs, returns: movingReturns]
    /// Where jobs from retry tiers go when no queue is bound to their key.
    package static let unroutedReturns = "apns.return.unrouted"
    /// The queue of ``unroutedReturns``.
    package static let unroutedReturnQueue = "apns.q.jobs.unrouted.return"
    /// What the names of queues for what comes back from tiers end with.
    package static let returnSuffix = ".return"

    /// One of the queues over which results are dealt out.
    /// - Parameter index: Which one, from 0.
    package static func resultsQueue(_ index: Int) -> String {
        index == 0 ? resultsQueue : "\(resultsPrefix)\(index + 1)"
    }
    /// The key that leads a result to one of several queues; it stands in the message's `BCC`, beside its own key.
    /// - Parameter slot: The remainder of the job's hash by ``resultsSlots``.
    package static func resultsKey(slot: Int) -> String { "slot.\(slot)" }
    /// Into how many parts results are divided where there are several queues, whatever their number: so workers need not
    /// know it. It is the most queues there can be.
    package static let resultsSlots = 64
    /// Whether a queue is one of several over which results are dealt out, other than the first.
    static func isFurtherResultsQueue(_ name: String) -> Bool {
        name.hasPrefix(resultsPrefix) && Int(name.dropFirst(resultsPrefix.count)) != nil
    }

    /// The queue for a route's jobs that come back from tiers.
    package static func returnQueue(route: String) -> String { "\(jobQueuePrefix)\(route)\(returnSuffix)" }
    /// The queue of a route's jobs.
    package static func jobQueue(route: String) -> String { "\(jobQueuePrefix)\(route)" }
    /// The exchange that leads into a tier's queue, by the tier's name.
    package static func retryExchange(tier: String) -> String { "apns.retry.\(tier)" }
    /// How the name of every queue begins.
    package static let queuePrefix = "apns.q."
    /// How the names of a route's queues begin; the route's name follows.
    static let jobQueuePrefix = "apns.q.jobs."
    /// How the name of a tier's queue begins; the tier's name follows.
    package static let retryQueuePrefix = "apns.q.retry."
    /// Whether a queue is that of a retry tier, which its policy is named after.
    static func isTierQueue(_ name: String) -> Bool { name.hasPrefix(retryQueuePrefix) }
    /// The queue of a route's `high` jobs, where it has one.
    package static func highJobQueue(route: String) -> String { highJobQueue(of: jobQueue(route: route)) }
    /// The queue of the `high` jobs of the route that has a job queue.
    static func highJobQueue(of queue: String) -> String { "\(queue)\(highSuffix)" }
    /// What the names of queues for `high` jobs end with.
    static let highSuffix = ".high"

    /// Whether a queue is one that workers take jobs from.
    /// - Parameter queue: The queue's name.
    package static func isJobQueue(_ queue: String) -> Bool { queue.hasPrefix(jobQueuePrefix) }
    /// The queue of the normal jobs of the route that a job queue belongs to.
    /// - Parameter queue: The name of a route's queue for normal or for `high` jobs, or for what comes back from tiers.
    package static func normalQueue(of queue: String) -> String {
        for suffix in [highSuffix, returnSuffix] where queue.hasSuffix(suffix) {
            return String(queue.dropLast(suffix.count))
        }
        return queue
    }
    /// Whether a queue is one that a client makes for itself.
    /// - Parameter queue: The queue's name.
    package static func isClients(_ queue: String) -> Bool {
        queue.hasPrefix(replyQueuePrefix) || queue.hasPrefix(tapQueuePrefix)
    }
    /// Whether a queue holds jobs on their way: those of routes and those of tiers.
    /// - Parameter queue: The queue's name.
    package static func holdsJobs(_ queue: String) -> Bool {
        queue.hasPrefix(jobQueuePrefix) || queue.hasPrefix(retryQueuePrefix)
    }
    /// The name of a queue for one user's copies, which is gone with its connection.
    /// - Parameters:
    ///   - user: The user; permissions go by the name.
    ///   - id: Tells it from others of the user.
    package static func tapQueue(user: String, id: String) -> String { "\(tapQueuePrefix)\(user).\(id)" }
    /// How the names of queues for copies begin.
    static let tapQueuePrefix = "apns.q.tap."
    /// How the names of queues for replies begin.
    package static let replyQueuePrefix = "apns.q.reply."

    /// The name of a queue for one user's replies.
    /// - Parameters:
    ///   - user: The user; permissions go by the name.
    ///   - id: Tells it from others of the user.
    package static func replyQueue(user: String, id: String) -> String { "\(replyQueuePrefix)\(user).\(id)" }
}
