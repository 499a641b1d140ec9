import PushModel

/// The names of the broker's objects. Names that contain a route, a tier, a user or a number are made by functions.
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
    /// The queue of results, or the first of several such queues.
    package static let resultsQueue = "apns.q.results"
    /// The beginning of the names of further queues for results, and of queues that get a copy of some routes' results.
    package static let resultsPrefix = "apns.q.results."
    /// Where results go when no queue is bound to their key.
    package static let unclaimedResults = "apns.results.unclaimed"
    /// The queue of ``unclaimedResults``.
    package static let unclaimedResultsQueue = "apns.q.results.unclaimed"
    /// Where dead letters are published.
    package static let dead = "apns.dead"
    /// The queue of dead letters, except those of dead tokens.
    package static let deadQueue = "apns.q.dead"
    /// The queue of the dead letters of dead tokens.
    package static let deadTokensQueue = "apns.q.dead.tokens"
    /// The queue of copies of the dead letters that RabbitMQ wrote. Workers make results of them.
    package static let brokerLettersQueue = "apns.q.dead.broker"
    /// Where replies to a job's `reply_to` are published.
    package static let replies = "apns.replies"
    /// Where all workers publish their reports, for operators, for workers that start, and for those that find their
    /// shares of the routes by themselves.
    package static let fleet = "apns.fleet"
    /// The stream of ``fleet``.
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
    /// The end of the names of queues for jobs that come back from tiers.
    package static let returnSuffix = ".return"

    /// One of the queues over which results are dealt out.
    ///
    /// - Parameter index: Which one, from 0.
    package static func resultsQueue(_ index: Int) -> String {
        index == 0 ? resultsQueue : "\(resultsPrefix)\(index + 1)"
    }
    /// The key that leads a result to one of several queues. It is in the message's `BCC`, beside the message's own
    /// key.
    ///
    /// - Parameter slot: The remainder of the job's hash by ``resultsSlots``.
    package static func resultsKey(slot: Int) -> String { "slot.\(slot)" }
    /// Into how many parts results are divided if there are several queues. Workers need not know how many queues there
    /// are, because the number of parts is always the same. There can be no more queues than parts.
    package static let resultsSlots = 64
    /// Whether a queue is one of several over which results are dealt out, and not the first.
    static func isFurtherResultsQueue(_ name: String) -> Bool {
        name.hasPrefix(resultsPrefix) && Int(name.dropFirst(resultsPrefix.count)) != nil
    }

    /// What the name of a route must be, in words.
    package static let routeNameRule = "1 to 40 lower-case letters, digits and \"-\""
    /// Whether a text may be the name of a route, as ``routeNameRule`` says.
    ///
    /// - Parameter text: The text.
    package static func isRouteName(_ text: some StringProtocol) -> Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (byte.isAlphanumeric && !capitals.contains(byte))
            }
    }

    /// The queue for a route's jobs that come back from tiers.
    package static func returnQueue(route: String) -> String { "\(jobQueuePrefix)\(route)\(returnSuffix)" }
    /// The queue of a route's jobs.
    package static func jobQueue(route: String) -> String { "\(jobQueuePrefix)\(route)" }
    /// The exchange that leads to a tier's queue, by the tier's name.
    package static func retryExchange(tier: String) -> String { "apns.retry.\(tier)" }
    /// How the name of every queue begins.
    package static let queuePrefix = "apns.q."
    /// How the names of a route's queues begin; the route's name follows.
    static let jobQueuePrefix = "apns.q.jobs."
    /// How the name of a tier's queue begins.
    package static let retryQueuePrefix = "apns.q.retry."
    /// The queue of a tier, by the tier's name.
    package static func retryQueue(tier: String) -> String { "\(retryQueuePrefix)\(tier)" }
    /// The name of a holding tier. Its exchange and its queue are named like those of retry tiers, so that what users of
    /// the broker may write, and what older tools know of tiers, covers them.
    package static func holdingTier(delay: String) -> String { "hold.\(delay)" }
    /// Whether jobs that wait for their time are in a queue.
    package static func isHoldingQueue(_ name: String) -> Bool {
        name.hasPrefix(retryQueue(tier: holdingTier(delay: "")))
    }
    /// Whether a name is that of a tier's queue. The policy of the queue has the same name.
    static func isTierQueue(_ name: String) -> Bool { name.hasPrefix(retryQueuePrefix) }
    /// The queue of a route's `high` jobs, where it has one.
    package static func highJobQueue(route: String) -> String { highJobQueue(of: jobQueue(route: route)) }
    /// The queue of the `high` jobs of a route, by the name of the route's job queue.
    static func highJobQueue(of queue: String) -> String { "\(queue)\(highSuffix)" }
    /// The end of the names of queues for `high` jobs.
    static let highSuffix = ".high"

    /// Whether a queue is one that workers take jobs from.
    ///
    /// - Parameter queue: The queue's name.
    package static func isJobQueue(_ queue: String) -> Bool { queue.hasPrefix(jobQueuePrefix) }
    /// The queue of the normal jobs of a route, by the name of any of its queues.
    ///
    /// - Parameter queue: The name of a route's queue for normal jobs, for `high` jobs, or for jobs that come back from
    ///   tiers.
    package static func normalQueue(of queue: String) -> String {
        for suffix in [highSuffix, returnSuffix] where queue.hasSuffix(suffix) {
            return String(queue.dropLast(suffix.count))
        }
        return queue
    }
    /// The route whose jobs a queue holds; nil for jobs that no route takes.
    ///
    /// - Parameter queue: The name of a route's queue for normal jobs, for `high` jobs, or for jobs that come back from
    ///   tiers.
    package static func route(ofJobQueue queue: String) -> String? {
        // A route may be called `high` or `return`.
        let name = normalQueue(of: String(queue.dropFirst(jobQueuePrefix.count)))
        return jobQueue(route: name) == unroutedJobsQueue ? nil : name
    }
    /// Whether a queue is one that a client makes for itself.
    ///
    /// - Parameter queue: The queue's name.
    package static func isClients(_ queue: String) -> Bool {
        clientQueuePrefixes.contains { queue.hasPrefix($0) }
    }
    /// How the names of queues begin that clients make for themselves.
    package static let clientQueuePrefixes = [replyQueuePrefix, tapQueuePrefix]
    /// Whether a queue holds jobs on their way: those of routes and those of tiers.
    ///
    /// - Parameter queue: The queue's name.
    package static func holdsJobs(_ queue: String) -> Bool {
        queue.hasPrefix(jobQueuePrefix) || queue.hasPrefix(retryQueuePrefix)
    }
    /// Whether a queue is one that topologies make, of this configuration or another.
    ///
    /// - Parameter name: The queue's name.
    package static func isOurs(queue name: String) -> Bool { name.hasPrefix(queuePrefix) && !isClients(name) }
    /// Whether an exchange is one that topologies make, of this configuration or another.
    ///
    /// - Parameter name: The exchange's name.
    package static func isOurs(exchange name: String) -> Bool {
        exchanges.contains(name) || name.hasPrefix(retryExchange(tier: ""))
    }
    /// The exchanges that every topology has.
    private static let exchanges = Set(BrokerTopology(routes: [], tiers: []).exchanges.map(\.name))
    /// The name of a queue for one user's copies. The queue is gone once its connection is gone.
    ///
    /// - Parameters:
    ///   - user: The user. Permissions depend on this part of the name.
    ///   - id: Distinguishes it from other queues of the user.
    package static func tapQueue(user: String, id: String) -> String { "\(tapQueuePrefix)\(user).\(id)" }
    /// How the names of queues for copies begin.
    static let tapQueuePrefix = "apns.q.tap."
    /// How the names of queues for replies begin.
    package static let replyQueuePrefix = "apns.q.reply."

    /// The name of a queue for one user's replies.
    ///
    /// - Parameters:
    ///   - user: The user. Permissions depend on this part of the name.
    ///   - id: Distinguishes it from other queues of the user.
    package static func replyQueue(user: String, id: String) -> String { "\(replyQueuePrefix)\(user).\(id)" }
}
