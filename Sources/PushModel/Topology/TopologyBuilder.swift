/// Collects the broker's objects, part by part.
struct TopologyBuilder {
    private static let mebibyte: Int64 = 1 << 20
    private static let gibibyte: Int64 = 1 << 30
    private static let month: Int64 = 30 * 86_400_000
    /// Above what operators usually give to policies for everything, since only one policy applies to an object.
    private static let priority = 10
    /// Looking at a message counts as a delivery, and RabbitMQ 4 drops after 20 unless told otherwise.
    private static let anyNumberOfLooks = setting("delivery-limit", 1_000_000)

    private(set) var exchanges: [TopologyExchange] = []
    private(set) var queues: [TopologyQueue] = []
    private(set) var bindings: [TopologyBinding] = []
    private(set) var policies: [TopologyPolicy] = []

    /// The jobs exchange, its queues, and the exact keys of every topic with every suffix.
    mutating func addJobs(_ routes: [TopologyRoute]) {
        exchange(TopologyNames.jobs, .topic, [Self.setting("alternate-exchange", TopologyNames.unroutedJobs)])
        exchange(TopologyNames.unroutedJobs, .fanout)
        queue(
            TopologyNames.unroutedJobsQueue,
            Self.jobSettings + [Self.setting("dead-letter-routing-key", "invalid.-.-")])
        bind(TopologyNames.unroutedJobs, TopologyNames.unroutedJobsQueue)
        for route in routes {
            let normal = TopologyNames.jobQueue(route: route.name)
            let high = route.highLane ? TopologyNames.highJobQueue(route: route.name) : normal
            queue(normal, Self.jobSettings)
            if route.highLane { queue(high, Self.jobSettings) }
            for topic in route.topics {
                for suffix in TopicSuffix.all {
                    let tail = "\(topic)\(suffix)"
                    bind(TopologyNames.jobs, normal, "\(route.environment.rawValue).normal.\(tail)")
                    bind(TopologyNames.jobs, high, "\(route.environment.rawValue).high.\(tail)")
                }
            }
        }
    }

    /// Where jobs come back from tiers: a queue per route that refuses nothing.
    ///
    /// RabbitMQ holds 32 messages of a tier until the queues have taken them to which they return, and tries again what
    /// was refused only after minutes: one full queue would stop the retries of all routes. What is in tiers bounds
    /// what comes back. [At-least-once dead lettering](https://www.rabbitmq.com/docs/quorum-queues#dead-lettering)
    mutating func addReturns(_ routes: [TopologyRoute]) {
        exchange(TopologyNames.returns, .topic, [Self.setting("alternate-exchange", TopologyNames.unroutedReturns)])
        exchange(TopologyNames.unroutedReturns, .fanout)
        queue(
            TopologyNames.unroutedReturnQueue,
            Self.returnSettings + [Self.setting("dead-letter-routing-key", "invalid.-.-")])
        bind(TopologyNames.unroutedReturns, TopologyNames.unroutedReturnQueue)
        for route in routes {
            let queue = TopologyNames.returnQueue(route: route.name)
            self.queue(queue, Self.returnSettings)
            for topic in route.topics {
                for suffix in TopicSuffix.all {
                    bind(TopologyNames.returns, queue, "\(route.environment.rawValue).*.\(topic)\(suffix)")
                }
            }
        }
    }

    /// One retry tier: what waited there comes back with its own key.
    mutating func addRetry(_ tier: RetryTier) {
        exchange(tier.exchange, .fanout)
        queue(
            tier.queue,
            [Self.setting("message-ttl", tier.milliseconds)] + Self.safeDeadLettering(to: TopologyNames.returns))
        bind(tier.exchange, tier.queue)
    }

    /// Results, and where those go that nobody bound.
    mutating func addResults() {
        exchange(TopologyNames.results, .topic, [Self.setting("alternate-exchange", TopologyNames.unclaimedResults)])
        queue(TopologyNames.resultsQueue, Self.keptMessages)
        bind(TopologyNames.results, TopologyNames.resultsQueue, "#")
        exchange(TopologyNames.unclaimedResults, .fanout)
        queue(
            TopologyNames.unclaimedResultsQueue,
            [
                Self.setting("max-length-bytes", 100 * Self.mebibyte), Self.setting("overflow", "drop-head"),
                Self.anyNumberOfLooks,
            ])
        bind(TopologyNames.unclaimedResults, TopologyNames.unclaimedResultsQueue)
    }

    /// Dead letters: those workers write under their outcome, and those the broker writes under the job's key.
    mutating func addDeadLetters() {
        exchange(TopologyNames.dead, .topic)
        queue(TopologyNames.deadQueue, Self.keptMessages)
        for outcome in ["rejected", "expired", "exhausted", "unknown", "invalid"] {
            bind(TopologyNames.dead, TopologyNames.deadQueue, "\(outcome).#")
        }
        for environment in APNSEnvironment.allCases {
            bind(TopologyNames.dead, TopologyNames.deadQueue, "\(environment.rawValue).#")
        }
        queue(
            TopologyNames.deadTokensQueue,
            [
                Self.setting("max-length-bytes", Self.gibibyte), Self.setting("overflow", "drop-head"),
                Self.setting("message-ttl", Self.month), Self.anyNumberOfLooks,
            ])
        bind(TopologyNames.dead, TopologyNames.deadTokensQueue, "dead_token.#")
    }

    /// Adds an exchange, and a policy where it has settings.
    mutating func exchange(_ name: String, _ kind: TopologyExchange.Kind, _ settings: [TopologyPolicy.Setting] = []) {
        exchanges.append(TopologyExchange(name: name, kind: kind))
        guard !settings.isEmpty else { return }
        policies.append(TopologyPolicy(name: name, scope: .exchanges, priority: Self.priority, settings: settings))
    }

    private mutating func queue(_ name: String, _ settings: [TopologyPolicy.Setting]) {
        queues.append(TopologyQueue(name: name))
        // Without it the node that imports the definitions leads all queues.
        let spread = Self.setting("queue-leader-locator", "balanced")
        policies.append(
            TopologyPolicy(name: name, scope: .queues, priority: Self.priority, settings: settings + [spread]))
    }

    private mutating func bind(_ source: String, _ queue: String, _ key: String = "") {
        bindings.append(TopologyBinding(source: source, queue: queue, routingKey: key))
    }

    /// Full queues refuse, so that producers and workers notice; at-least-once dead-lettering needs that as well.
    private static func safeDeadLettering(to exchange: String) -> [TopologyPolicy.Setting] {
        [
            setting("dead-letter-exchange", exchange), setting("dead-letter-strategy", "at-least-once"),
            setting("overflow", "reject-publish"),
        ]
    }

    private static let jobSettings = returnSettings + [setting("max-length-bytes", 2 * gibibyte)]

    /// `reject-publish` is what at-least-once dead lettering needs; without a length nothing is ever refused.
    private static let returnSettings = safeDeadLettering(to: TopologyNames.dead) + [setting("delivery-limit", 50)]

    private static let keptMessages: [TopologyPolicy.Setting] = [
        setting("max-length-bytes", 2 * gibibyte), setting("overflow", "reject-publish"),
        setting("message-ttl", month), anyNumberOfLooks,
    ]

    private static func setting(_ key: String, _ value: Int64) -> TopologyPolicy.Setting {
        TopologyPolicy.Setting(key: key, value: .integer(value))
    }

    private static func setting(_ key: String, _ value: String) -> TopologyPolicy.Setting {
        TopologyPolicy.Setting(key: key, value: .text(value))
    }
}
