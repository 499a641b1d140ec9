import PushModel

/// Collects the broker's objects, part by part.
struct TopologyBuilder {
    private static let mebibyte: Int64 = 1 << 20
    private static let gibibyte: Int64 = 1 << 30
    private static let month: Int64 = 30 * 86_400_000
    /// The usual priority. It is above those that operators usually give to policies for everything, since only one
    /// policy applies to an object.
    static let priority = 10
    /// The priority of policies for all queues of a kind. They win over policies for single queues, which earlier
    /// versions made for each route.
    private static let kindPriority = 11
    /// The priority of the policy for one queue whose name is of a kind, but which needs other settings.
    private static let exceptionPriority = 12
    /// The priority of a tier's policy while the copies that came before the policy are led back. An `apply` that is
    /// interrupted leaves it, and the next one goes on.
    static let unfinishedPriority = 13
    /// A look at a message counts as a delivery. RabbitMQ 4 drops a message after 20 deliveries unless it is told
    /// otherwise.
    private static let anyNumberOfLooks = setting("delivery-limit", 1_000_000)

    /// As how many bytes a held job counts at least against the limit of a holding tier.
    private static let leastHeldSize: Int64 = 512

    /// The key of the broker's letters about jobs without a route. Letters of workers about jobs without environment and
    /// topic have it, too.
    private static let unroutedLettersKey = "invalid.-.-"
    private static let keyOfUnroutedLetters = setting("dead-letter-routing-key", unroutedLettersKey)

    private(set) var exchanges: [TopologyExchange] = []
    private(set) var queues: [TopologyQueue] = []
    private(set) var bindings: [TopologyBinding] = []
    private(set) var policies: [TopologyPolicy] = []

    /// The jobs exchange, its queues, and the exact keys of every topic with every suffix.
    mutating func addJobs(_ routes: [TopologyRoute]) {
        exchange(TopologyNames.unroutedJobs, .fanout)
        exchange(TopologyNames.movingJobs, .topic, otherwise: TopologyNames.unroutedJobs)
        exchange(TopologyNames.jobs, .topic, otherwise: TopologyNames.movingJobs)
        queue(
            TopologyNames.unroutedJobsQueue,
            Self.jobSettings + [Self.keyOfUnroutedLetters], Self.exceptionPriority)
        policy(Self.jobPolicy, pattern: #"^apns\.q\.jobs\.[a-z0-9-]+(\.high)?$"#, Self.jobSettings)
        bind(TopologyNames.unroutedJobs, TopologyNames.unroutedJobsQueue)
        for route in routes {
            let normal = TopologyNames.jobQueue(route: route.name)
            let high = route.highLane ? TopologyNames.highJobQueue(route: route.name) : normal
            queue(normal, of: Self.jobPolicy)
            if route.highLane { queue(high, of: Self.jobPolicy) }
            for topic in route.topics {
                for suffix in TopicSuffix.all {
                    let tail = "\(topic)\(suffix)"
                    bind(TopologyNames.jobs, normal, "\(route.environment.rawValue).normal.\(tail)")
                    bind(TopologyNames.jobs, high, "\(route.environment.rawValue).high.\(tail)")
                }
            }
        }
    }

    /// The exchange for jobs that come back from tiers, and a queue per route that refuses nothing.
    ///
    /// RabbitMQ holds 32 messages of a tier until the queues to which they return have taken them. A refused message is
    /// tried again only after minutes. So one full queue would stop the retries of all routes. The number of messages
    /// in tiers bounds the number that comes back.
    /// [At-least-once dead lettering](https://www.rabbitmq.com/docs/quorum-queues#dead-lettering)
    mutating func addReturns(_ routes: [TopologyRoute]) {
        exchange(TopologyNames.unroutedReturns, .fanout)
        exchange(TopologyNames.movingReturns, .topic, otherwise: TopologyNames.unroutedReturns)
        exchange(TopologyNames.returns, .topic, otherwise: TopologyNames.movingReturns)
        queue(
            TopologyNames.unroutedReturnQueue,
            Self.returnSettings + [Self.keyOfUnroutedLetters], Self.exceptionPriority)
        policy(Self.returnPolicy, pattern: #"^apns\.q\.jobs\.[a-z0-9-]+\.return$"#, Self.returnSettings)
        bind(TopologyNames.unroutedReturns, TopologyNames.unroutedReturnQueue)
        for route in routes {
            let queue = TopologyNames.returnQueue(route: route.name)
            self.queue(queue, of: Self.returnPolicy)
            for topic in route.topics {
                for suffix in TopicSuffix.all {
                    bind(TopologyNames.returns, queue, "\(route.environment.rawValue).*.\(topic)\(suffix)")
                }
            }
        }
    }

    /// One tier. The messages that waited there come back with their own keys.
    ///
    /// All apps share the tiers. So only holding tiers have a length: a retry tier that refused a copy would stop the
    /// route of the copy.
    ///
    /// - Parameters:
    ///   - tier: The tier.
    ///   - limit: How many bytes wait at most in a holding tier.
    mutating func addTier(_ tier: RetryTier, limit: Int64) {
        exchange(tier.exchange, .fanout)
        var settings = [Self.setting("message-ttl", tier.milliseconds)]
        settings += Self.safeDeadLettering(to: TopologyNames.returns)
        if tier.isHolding {
            // RabbitMQ 3 counts no headers, and a job may consist of little else.
            settings += [
                Self.setting("max-length-bytes", limit), Self.setting("max-length", limit / Self.leastHeldSize),
            ]
        }
        queue(tier.queue, settings)
        bind(tier.exchange, tier.queue)
    }

    /// The exchange and the queues of results, and a queue for results that no other queue is bound for.
    ///
    /// - Parameter count: Over how many queues results are dealt out. If there are several, a worker names one for each
    ///   job ([`BCC`](https://www.rabbitmq.com/docs/sender-selected)).
    mutating func addResults(queues count: Int) {
        exchange(TopologyNames.unclaimedResults, .fanout)
        exchange(TopologyNames.results, .topic, otherwise: TopologyNames.unclaimedResults)
        for index in 0..<count {
            queue(TopologyNames.resultsQueue(index), Self.keptMessages)
        }
        if count == 1 { bind(TopologyNames.results, TopologyNames.resultsQueue, "#") }
        for slot in 0..<(count == 1 ? 0 : TopologyNames.resultsSlots) {
            bind(
                TopologyNames.results, TopologyNames.resultsQueue(slot % count), TopologyNames.resultsKey(slot: slot))
        }
        queue(
            TopologyNames.unclaimedResultsQueue,
            [
                Self.setting("max-length-bytes", 100 * Self.mebibyte), Self.setting("overflow", "drop-head"),
                Self.anyNumberOfLooks,
            ], Self.exceptionPriority)
        bind(TopologyNames.unclaimedResults, TopologyNames.unclaimedResultsQueue)
    }

    /// Queues that get a copy of some routes' results. A full one drops its oldest messages and refuses none, because a
    /// team that does not read must not stop a route.
    mutating func addResultCopies(_ routes: [TopologyRoute]) {
        var made: Set<String> = []
        for route in routes {
            guard let name = route.resultsQueue else { continue }
            if made.isEmpty {
                policy(
                    Self.resultCopyPolicy, pattern: #"^apns\.q\.results\.[a-z][a-z0-9-]*$"#,
                    Self.droppingOldest)
            }
            if made.insert(name).inserted { queue(name, of: Self.resultCopyPolicy) }
            for topic in route.topics {
                for suffix in TopicSuffix.all {
                    bind(TopologyNames.results, name, "*.\(route.environment.rawValue).\(topic)\(suffix)")
                }
            }
        }
    }

    /// Replies to jobs that ask for them. Producers bind queues of their own.
    mutating func addReplies() {
        exchange(TopologyNames.replies, .direct)
    }

    /// The reports of all workers, for operators and for each other. They go into a stream, because each report has
    /// many readers.
    mutating func addFleet() {
        exchange(TopologyNames.fleet, .fanout)
        queue(TopologyNames.fleetQueue, Self.recentReports, Self.priority, .stream)
        bind(TopologyNames.fleet, TopologyNames.fleetQueue)
    }

    /// The commands of operators to all workers. They go into a stream, which each worker reads from its beginning when
    /// it starts.
    mutating func addControl() {
        exchange(TopologyNames.control, .fanout)
        queue(TopologyNames.controlQueue, Self.standingCommands, Self.priority, .stream)
        bind(TopologyNames.control, TopologyNames.controlQueue)
    }

    /// Dead letters. Those of workers have a key that begins with the outcome. Those of the broker have the job's key,
    /// which begins with the environment, or come from queues of unrouted jobs with a key that begins with `invalid`.
    ///
    /// Those of the broker have a second queue, of which workers make results. It drops its oldest, because letters
    /// that no worker reads must not stop the broker from writing others.
    mutating func addDeadLetters() {
        exchange(TopologyNames.dead, .topic)
        queue(TopologyNames.deadQueue, Self.keptMessages)
        for outcome in Outcome.allCases where outcome != .accepted && outcome != .deadToken {
            bind(TopologyNames.dead, TopologyNames.deadQueue, "\(outcome.rawValue).#")
        }
        queue(TopologyNames.brokerLettersQueue, Self.droppingOldest)
        for environment in APNSEnvironment.allCases {
            for queue in [TopologyNames.deadQueue, TopologyNames.brokerLettersQueue] {
                bind(TopologyNames.dead, queue, "\(environment.rawValue).#")
            }
        }
        bind(TopologyNames.dead, TopologyNames.brokerLettersQueue, Self.unroutedLettersKey)
        queue(TopologyNames.deadTokensQueue, Self.droppingOldest)
        bind(TopologyNames.dead, TopologyNames.deadTokensQueue, "\(Outcome.deadToken.rawValue).#")
    }

    /// Adds an exchange.
    ///
    /// - Parameter other: The exchange for messages that no queue is bound for here; nil for none.
    private mutating func exchange(_ name: String, _ kind: TopologyExchange.Kind, otherwise other: String? = nil) {
        exchanges.append(TopologyExchange(name: name, kind: kind, policy: other == nil ? nil : name))
        guard let other else { return }
        let settings = [Self.setting("alternate-exchange", other)]
        policies.append(
            TopologyPolicy(
                name: name, pattern: TopologyPolicy.pattern(matching: name), scope: .exchanges, priority: Self.priority,
                settings: settings))
    }

    /// Adds a queue with a policy of its own.
    private mutating func queue(
        _ name: String, _ settings: [TopologyPolicy.Setting], _ priority: Int = Self.priority,
        _ kind: TopologyQueue.Kind = .quorum
    ) {
        queue(name, of: name, kind)
        policy(name, pattern: TopologyPolicy.pattern(matching: name), settings, priority)
    }

    /// Adds a queue of a kind that has a policy.
    private mutating func queue(_ name: String, of policy: String, _ kind: TopologyQueue.Kind = .quorum) {
        queues.append(TopologyQueue(name: name, kind: kind, policy: policy))
    }

    /// Adds a policy for queues.
    private mutating func policy(
        _ name: String, pattern: String, _ settings: [TopologyPolicy.Setting], _ priority: Int = Self.kindPriority
    ) {
        // Without this setting, the node that imports the definitions would lead all queues.
        let spread = Self.setting("queue-leader-locator", "balanced")
        policies.append(
            TopologyPolicy(
                name: name, pattern: pattern, scope: .queues, priority: priority, settings: settings + [spread]))
    }

    private mutating func bind(_ source: String, _ queue: String, _ key: String = "") {
        bindings.append(TopologyBinding(source: source, queue: queue, routingKey: key))
    }

    /// A full queue refuses messages, so that producers and workers notice. At-least-once dead lettering needs that as
    /// well.
    private static func safeDeadLettering(to exchange: String) -> [TopologyPolicy.Setting] {
        [
            setting("dead-letter-exchange", exchange), setting("dead-letter-strategy", "at-least-once"),
            setting("overflow", "reject-publish"),
        ]
    }

    /// The policy of all routes' job queues.
    private static let jobPolicy = TopologyNames.jobQueue(route: "*")
    /// The policy of all routes' queues for what comes back from tiers.
    private static let returnPolicy = TopologyNames.returnQueue(route: "*")
    /// The policy of all queues that get a copy of some routes' results.
    static let resultCopyPolicy = TopologyNames.resultsPrefix + "*"

    private static let jobSettings = returnSettings + [setting("max-length-bytes", 2 * gibibyte)]

    /// At-least-once dead lettering needs `reject-publish`. Without a length, nothing is ever refused.
    private static let returnSettings = safeDeadLettering(to: TopologyNames.dead) + [setting("delivery-limit", 50)]

    /// The keys of the settings that earlier versions wrote into policies for single queues of routes.
    static let earlierJobKeys = Set(jobSettings.map(\.key)).union(["dead-letter-routing-key", "queue-leader-locator"])

    private static let droppingOldest: [TopologyPolicy.Setting] = [
        setting("max-length-bytes", gibibyte), setting("overflow", "drop-head"), setting("message-ttl", month),
        anyNumberOfLooks,
    ]

    private static let keptMessages: [TopologyPolicy.Setting] = [
        setting("max-length-bytes", 2 * gibibyte), setting("overflow", "reject-publish"),
        setting("message-ttl", month), anyNumberOfLooks,
    ]

    /// A report is of use for five minutes at most. A stream drops only whole segments, so the segments are small.
    private static let recentReports = [
        setting("max-age", "5m"), setting("max-length-bytes", 16 * mebibyte),
        setting("stream-max-segment-size-bytes", mebibyte),
    ]

    /// Commands last 30 days. The length holds 4,096 of the longest ones. Each worker reads all of them at its start.
    private static let standingCommands = [
        setting("max-age", "30D"), setting("max-length-bytes", 16 * mebibyte),
        setting("stream-max-segment-size-bytes", mebibyte),
    ]

    private static func setting(_ key: String, _ value: Int64) -> TopologyPolicy.Setting {
        TopologyPolicy.Setting(key: key, value: .integer(value))
    }

    private static func setting(_ key: String, _ value: String) -> TopologyPolicy.Setting {
        TopologyPolicy.Setting(key: key, value: .text(value))
    }
}
