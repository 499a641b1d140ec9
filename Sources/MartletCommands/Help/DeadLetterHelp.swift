import ArgumentParser
import PushModel
import Topology

/// `martlet help dead-letter`: explains the letters of jobs that failed. The page `DeadLetters` says more.
struct DeadLetterHelp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letter",
        abstract: "Dead letters: what is kept of jobs that failed.",
        usage: "martlet help dead-letter",
        discussion: text)

    /// The headers that a worker added to a letter.
    static let example = """
        {
          "\(HeaderName.outcome)": "rejected", "\(HeaderName.action)": "fix_topic",
          "\(HeaderName.reason)": "BadTopic", "\(HeaderName.status)": 400, "\(HeaderName.attempt)": 1,
          "\(HeaderName.indexes)": "0-4,7",
          "\(HeaderName.originalRoutingKey)": "production.normal.com.example.app",
          "\(HeaderName.firstAttemptAt)": 1763712800131,
          "\(HeaderName.diedAt)": 1763712800174, "\(HeaderName.worker)": "host-7f9c"
        }
        """

    /// The queues.
    private static let queues = [
        HelpEntry(
            TopologyNames.deadQueue, "2 GiB, 30 days",
            """
            rejected, expired, exhausted, unknown, invalid, cancelled, and what the broker wrote. When it is full it \
            refuses, and pushes stop until there is room.
            """),
        HelpEntry(
            TopologyNames.deadTokensQueue, "1 GiB, 30 days", "dead_token. When it is full it drops its oldest."),
        HelpEntry(
            TopologyNames.brokerLettersQueue, "1 GiB, 30 days",
            """
            Copies of what the broker wrote, until a worker has published the results. When it is full it drops its \
            oldest.
            """),
    ]

    /// The AMQP properties that a letter has.
    private static let properties = [
        HelpEntry("message_id", "string", "The job id, also where the worker made it."),
        HelpEntry(
            "content_type, content_encoding, correlation_id, reply_to, type, app_id, timestamp, priority", "",
            "As in the job."),
    ]

    /// The letters that the broker wrote, by the reason in their header.
    private static let brokerLetters = [
        HelpEntry("delivery_limit", "result exhausted, Poison", "The job came back to its queue more than 50 times."),
        HelpEntry(
            "expired", "result expired, ExpirationPassed",
            "The producer set the AMQP property expiration, or a policy has message-ttl."),
        HelpEntry(
            "rejected", "result invalid, BodyTooLarge",
            "The body was over 256 KiB, so that the worker never had it."),
    ]

    /// What to do before a letter is published again, by its outcome.
    private static let outcomes = [
        HelpEntry("exhausted", "Nothing; APNs must be well again."),
        HelpEntry("expired", "Set a later deadline and expiration."),
        HelpEntry("rejected", "Correct what \(HeaderName.reason) names, or have the credential mended."),
        HelpEntry("invalid", "Correct the job."),
        HelpEntry("cancelled", "Resume the campaign, or the copy is cancelled again."),
        HelpEntry("unknown", "Ask whether the push arrived: it may come twice."),
        HelpEntry("dead_token", "Do not publish it again; the device token is dead."),
    ]

    /// The whole text.
    private static var text: String {
        var help = HelpText(
            """
            The worker publishes a dead letter for what is not accepted: one for each job, outcome, reason and action, \
            so a job with many device tokens can have several. What is cancelled has a letter only if the operator \
            asked for it. RabbitMQ writes some letters itself. martlet dead list and martlet dead show look at \
            letters, martlet dead replay publishes them again, martlet dead purge deletes them, and martlet dead \
            tokens exports dead device tokens.
            """)
        help.add(
            "Exchange and routing key",
            """
            The topic exchange is \(TopologyNames.dead), the routing key <outcome>.<environment>.<topic>, such as \
            rejected.production.com.example.app; an unknown part is -.
            """)
        help.add("Queues", entries: queues)
        help.add(
            "Body and properties",
            """
            The body is the job's, byte for byte. The properties user_id and expiration are gone, because the broker \
            would act on them.
            """, entries: properties)
        help.add(
            "Headers",
            """
            The job's own headers stay. These are gone: \(BrokerHeader.copies), \(BrokerHeader.hiddenCopies), \
            \(BrokerHeader.death), \(BrokerHeader.firstDeathPrefix)…, \(BrokerHeader.lastDeathPrefix)…, \
            \(BrokerHeader.deliveryCount) and \(BrokerHeader.acquiredCount). The worker adds:
            """, entries: ContractSchema(PackageResources.dead_letter_headers_schema_json).properties)
        help.add(
            "Letters that the broker wrote",
            """
            They have none of the headers above but those that the producer wrote, which prove nothing, and the job's \
            routing key; invalid.-.- where they come from the queue of jobs without a route. The first entry of \(BrokerHeader.death) says why, and so does \
            \(BrokerHeader.firstDeathReason), but for retry copies, which have died in their tier before:
            """, entries: brokerLetters)
        help.add(
            "Before you publish one again",
            """
            martlet dead replay publishes letters again, by filter, and removes each one once its job is confirmed. A \
            program of your own drops the headers above and those of the broker, sets a later \
            \(HeaderName.deadline) where the old one has passed, and adds \(HeaderName.replay) with a new name. It \
            keeps \(HeaderName.indexes): without it every device token is pushed again. It publishes to \
            \(TopologyNames.jobs) with confirms, and acknowledges the letter last. The key is in \
            \(HeaderName.originalRoutingKey), but only if no entry of \(BrokerHeader.death) names a queue of jobs: \
            otherwise the broker wrote the letter, and the key is the letter's own. By outcome:
            """, entries: outcomes)
        help.add("Example", "The headers that the worker added to a letter:", verbatim: example)
        return help.text
    }
}
