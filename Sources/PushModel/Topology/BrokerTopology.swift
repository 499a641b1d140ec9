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

    /// Makes a route from its parts.
    package init(name: String, environment: APNSEnvironment, topics: [String], highLane: Bool = false) {
        self.name = name
        self.environment = environment
        self.topics = topics
        self.highLane = highLane
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
}

/// A queue of the broker: a durable quorum queue without any other argument, since arguments cannot be changed later.
package struct TopologyQueue: Sendable, Equatable {
    /// The name.
    package let name: String
}

/// A binding from an exchange to a queue.
package struct TopologyBinding: Sendable, Hashable, CustomStringConvertible {
    /// The exchange.
    package let source: String
    /// The queue.
    package let queue: String
    /// The key or pattern; empty for a fanout exchange.
    package let routingKey: String

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

/// A policy for exactly one queue or exchange: everything about it that can be tuned.
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

    /// The name: that of the object it is for.
    package let name: String
    /// What it applies to.
    package let scope: Scope
    /// Which of the policies that match an object wins: the highest.
    package let priority: Int
    /// The settings, in the order in which they are written.
    package let settings: [Setting]

    /// The expression that matches the one object.
    package var pattern: String { "^\(name.split(separator: ".").joined(separator: "\\."))$" }
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
    /// The policies, at most one per object.
    package let policies: [TopologyPolicy]

    /// Works out the objects.
    ///
    /// - Parameters:
    ///   - routes: The routes; no two may claim one (environment, topic).
    ///   - tiers: The retry delays, each once.
    ///   - virtualHost: Where the objects live.
    package init(routes: [TopologyRoute], tiers: [RetryTier], virtualHost: String = "/") {
        var objects = TopologyBuilder()
        // What is pushed may come back: the way back is bound before that which brings jobs.
        objects.addReturns(routes)
        objects.addJobs(routes)
        for tier in tiers { objects.addRetry(tier) }
        objects.addResults()
        objects.addDeadLetters()
        objects.exchange(TopologyNames.replies, .direct)
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
    /// Where jobs go whose key is bound to no queue.
    package static let unroutedJobs = "apns.jobs.unrouted"
    /// The queue of ``unroutedJobs``.
    package static let unroutedJobsQueue = "apns.q.jobs.unrouted"
    /// Where workers publish results.
    package static let results = "apns.results"
    /// The default monitoring queue.
    package static let resultsQueue = "apns.q.results"
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

    /// Where retry tiers send what waited there.
    package static let returns = "apns.return"
    /// Where that goes whose key is bound to no queue any more.
    package static let unroutedReturns = "apns.return.unrouted"
    /// The queue of ``unroutedReturns``.
    package static let unroutedReturnQueue = "apns.q.jobs.unrouted.return"
    /// What the names of queues for what comes back from tiers end with.
    package static let returnSuffix = ".return"

    /// The queue for a route's jobs that come back from tiers.
    package static func returnQueue(route: String) -> String { "apns.q.jobs.\(route)\(returnSuffix)" }
    /// The queue of a route's jobs.
    package static func jobQueue(route: String) -> String { "apns.q.jobs.\(route)" }
    /// The queue of a route's `high` jobs, where it has one.
    package static func highJobQueue(route: String) -> String { "apns.q.jobs.\(route).high" }
}
