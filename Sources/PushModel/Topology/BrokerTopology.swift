/// What the topology needs to know of a route.
package struct TopologyRoute: Sendable, Equatable {
    /// The route's name, `[a-z0-9-]{1,40}`.
    package var name: String
    /// Which APNs its tokens belong to.
    package var environment: APNSEnvironment
    /// Its bundle identifiers, each claimed with every one of ``TopicSuffix/all``.
    package var topics: [String]
    /// Whether `high` jobs have a queue of their own.
    package var highLane: Bool
    /// The queue that gets a copy of the route's results; nil for none. Routes may share one.
    package var resultsQueue: String?

    /// Makes a route from its parts.
    package init(
        name: String, environment: APNSEnvironment, topics: [String], highLane: Bool = false,
        resultsQueue: String? = nil
    ) {
        self.name = name
        self.environment = environment
        self.topics = topics
        self.highLane = highLane
        self.resultsQueue = resultsQueue
    }
}

/// A retry queue's fixed delay.
package struct RetryTier: Sendable, Equatable {
    /// The delay in milliseconds.
    package let milliseconds: Int64

    /// Makes a tier of a delay in milliseconds.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The delay as it stands in names, such as `15s` or `1m`: equal delays have equal names however they were written.
    package var name: String { DurationText.write(.milliseconds(milliseconds)) }
    /// The exchange that retry copies are published to.
    package var exchange: String { "apns.retry.\(name)" }
    /// The queue in which they wait.
    package var queue: String { "apns.q.retry.\(name)" }
}

/// An exchange of the broker; always durable, never deleted by itself.
package struct TopologyExchange: Sendable, Equatable {
    /// How an exchange routes.
    package enum Kind: String, Sendable {
        /// By pattern, to everyone, or by exact key.
        case topic, fanout, direct
    }

    /// The name.
    package let name: String
    /// How it routes.
    package let kind: Kind
    /// The name of the policy that is to be in effect for it; nil for none.
    package let policy: String?
}

/// A queue of the broker: durable, and without any argument but its kind, since arguments cannot be changed later.
package struct TopologyQueue: Sendable, Equatable {
    /// What a queue does with its messages, as `x-queue-type` names it.
    package enum Kind: String, Sendable {
        /// Each message goes to one consumer.
        case quorum
        /// Each message goes to every consumer. [Streams](https://www.rabbitmq.com/docs/streams)
        case stream
    }

    /// The name.
    package let name: String
    /// What it does with its messages.
    package let kind: Kind
    /// The name of the policy that is to be in effect for it.
    package let policy: String
}

/// A binding from an exchange to a queue.
package struct TopologyBinding: Sendable, Hashable, CustomStringConvertible {
    /// The exchange.
    package let source: String
    /// The queue.
    package let queue: String
    /// The key or pattern; empty for a fanout exchange.
    package let routingKey: String

    /// The exchange and the key: where messages are that it leads on.
    struct Address: Hashable {
        /// The exchange.
        let source: String
        /// The key or pattern.
        let routingKey: String
    }

    /// Where messages are that it leads on.
    var address: Address { Address(source: source, routingKey: routingKey) }

    /// How rows of a comparison call it.
    package var description: String {
        "binding \(source) -> \(queue)\(routingKey.isEmpty ? "" : " by \(routingKey)")"
    }
}

/// A setting of a policy.
package enum TopologyValue: Sendable, Equatable {
    /// A number.
    case integer(Int64)
    /// A word.
    case text(String)
}

/// A policy for one object, or for all queues of a kind: everything about them that can be tuned.
///
/// The queues of routes share their policies, because the broker holds each policy against each queue whenever one
/// changes: one policy for every queue made that quadratic.
package struct TopologyPolicy: Sendable, Equatable {
    /// What a policy applies to.
    package enum Scope: String, Sendable {
        /// All queues or all exchanges whose name matches.
        case queues, exchanges
    }

    /// One setting.
    package struct Setting: Sendable, Equatable {
        /// The policy key, such as `message-ttl`.
        package let key: String
        /// Its value.
        package let value: TopologyValue
    }

    /// The name: that of the object it is for, or of the kind with `*` in place of the route.
    package let name: String
    /// The regular expression that matches the names of what it is for.
    package let pattern: String
    /// What it applies to.
    package let scope: Scope
    /// Which of the policies that match an object wins: the highest.
    package let priority: Int
    /// The settings, in the order in which they are written.
    package let settings: [Setting]

    /// The regular expression that matches one object alone.
    static func pattern(matching name: String) -> String {
        "^\(name.split(separator: ".").joined(separator: "\\."))$"
    }
}

/// Everything the broker must hold for some routes and retry tiers: pure values, in a fixed order.
///
/// Queues are durable quorum queues; whatever can be tuned is a policy, because policies can be changed while queues
/// live. Job bindings are exact keys, because another app may share a prefix.
/// [Policies](https://www.rabbitmq.com/docs/policies), [quorum queues](https://www.rabbitmq.com/docs/quorum-queues)
package struct BrokerTopology: Sendable, Equatable {
    /// The virtual host that holds it all.
    package let virtualHost: String
    /// The exchanges.
    package let exchanges: [TopologyExchange]
    /// The queues.
    package let queues: [TopologyQueue]
    /// The bindings.
    package let bindings: [TopologyBinding]
    /// The policies; of those that match an object, the one that it names has the highest priority.
    package let policies: [TopologyPolicy]

    /// Works out the objects.
    ///
    /// - Parameters:
    ///   - routes: The routes; no two may claim one (environment, topic).
    ///   - tiers: The retry delays, each once.
    ///   - resultsQueues: Over how many queues results are dealt out, at least one.
    ///   - virtualHost: Where the objects live.
    package init(routes: [TopologyRoute], tiers: [RetryTier], resultsQueues: Int = 1, virtualHost: String = "/") {
        var objects = TopologyBuilder()
        // What is pushed may come back: the way back is bound before that which brings jobs.
        objects.addReturns(routes)
        objects.addJobs(routes)
        for tier in tiers { objects.addRetry(tier) }
        objects.addResults(queues: resultsQueues)
        objects.addResultCopies(routes)
        objects.addDeadLetters()
        objects.addReplies()
        objects.addFleet()
        self.virtualHost = virtualHost
        exchanges = objects.exchanges
        queues = objects.queues
        bindings = objects.bindings
        policies = objects.policies
    }
}

/// The names of the broker's objects that do not depend on the configuration.
package enum TopologyNames {
    /// Where producers publish.
    package static let jobs = "apns.jobs"
    /// Where jobs go while the binding of their key moves from one queue to another.
    package static let movingJobs = "apns.jobs.moving"
    /// Where jobs go whose key is bound to no queue.
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

    /// Where retry tiers send what waited there.
    package static let returns = "apns.return"
    /// Where that goes while the binding of its key moves from one queue to another.
    package static let movingReturns = "apns.return.moving"
    /// The exchanges whose bindings move, each by way of its alternate exchange.
    static let moving = [jobs: movingJobs, returns: movingReturns]
    /// Where that goes whose key is bound to no queue any more.
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
    package static func returnQueue(route: String) -> String { "apns.q.jobs.\(route)\(returnSuffix)" }
    /// The queue of a route's jobs.
    package static func jobQueue(route: String) -> String { "apns.q.jobs.\(route)" }
    /// The queue of a route's `high` jobs, where it has one.
    package static func highJobQueue(route: String) -> String { highJobQueue(of: jobQueue(route: route)) }
    /// The queue of the `high` jobs of the route that has a job queue.
    static func highJobQueue(of queue: String) -> String { "\(queue)\(highSuffix)" }
    /// What the names of queues for `high` jobs end with.
    static let highSuffix = ".high"
}
