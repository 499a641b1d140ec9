import ArgumentParser
import PushModel
import Topology

/// `martlet help result`: explains the result of each notification. The page `Results` says more.
struct ResultHelp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "result",
        abstract: "Results: what became of each notification, and what to do.",
        usage: "martlet help result",
        discussion: text)

    /// A result's body.
    static let example = """
        {
          "job_id": "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90", "index": 0,
          "outcome": "dead_token", "action": "drop_token",
          "status": 410, "reason": "Unregistered", "detail": null,
          "device_token": "00fc13adff785122b4ad28809a342098234124142134",
          "token_invalid_since": 1763712764120,
          "reference": "campaign-7/user-81",
          "apns_id": "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90", "apns_unique_id": null,
          "topic": "com.example.app", "environment": "production",
          "route": "example", "attempt": 1, "redelivered": false,
          "enqueued_at": 1763712800100, "finished_at": 1763712800174,
          "queue_ms": 31, "apns_ms": 41, "worker": "host-7f9c"
        }
        """

    /// The AMQP properties.
    private static let properties = [
        HelpEntry("content_type", "\(MessageName.jsonContentType)", ""),
        HelpEntry("type", "\(MessageName.resultType)", ""),
        HelpEntry(
            "message_id", "UUID",
            """
            Names the result: UUIDv5 of <job id>/<attempt>/<index> in the namespace \
            268fde28-cb90-48d3-9071-c4bed60c6d28. A replay's name stands behind the job id. The same result may come \
            twice: dedupe by this and the outcome.
            """),
        HelpEntry("correlation_id", "string", "The job's correlation_id, else the job id."),
        HelpEntry("delivery_mode", "2", ""),
    ]

    /// The outcomes.
    private static let outcomes = [
        HelpEntry(
            "accepted", "action none",
            "APNs answered 200: it took the push, which does not prove delivery. There is no dead letter."),
        HelpEntry(
            "dead_token", "action drop_token or hold",
            """
            APNs does not know the device token, or knows that it is dead. Dead letter in \
            \(TopologyNames.deadTokensQueue).
            """),
        HelpEntry(
            "rejected", "action fix_request, fix_topic or fix_credential",
            "APNs refused for good. Dead letter in \(TopologyNames.deadQueue), as for all outcomes below."),
        HelpEntry("expired", "action none", "Deadline or expiration passed before the push could be sent."),
        HelpEntry(
            "exhausted", "action replay; fix_request with the reason BadHeaders",
            "Retryable answers until attempts or age ran out, or the job came back to its queue too often."),
        HelpEntry("unknown", "action check", "Sent, and never answered."),
        HelpEntry("invalid", "action fix_request", "Unreadable, against a rule, or no route."),
        HelpEntry(
            "cancelled", "action none",
            "An operator cancelled its campaign before it was sent. Dead letter if the operator asked for that."),
    ]

    /// The actions.
    private static let actions = [
        HelpEntry("none", "Nothing."),
        HelpEntry(
            "drop_token",
            """
            Stop using this device token for this topic. Compare token_invalid_since with the time your app last \
            registered it: a token registered later is alive.
            """),
        HelpEntry(
            "hold",
            """
            Delete nothing. Suddenly most device tokens of the route are refused, which usually means a wrong \
            environment or topic. Tell the operator.
            """),
        HelpEntry("fix_request", "Correct what the producer sends; reason and detail say what."),
        HelpEntry("fix_topic", "Correct the topic, or which device tokens you use with it."),
        HelpEntry(
            "fix_credential",
            """
            Tell the operator: APNs refuses the route's key or certificate. Publish the job again once it is mended.
            """),
        HelpEntry("replay", "Publish the job again when the trouble is over."),
        HelpEntry(
            "check",
            """
            Find out whether the push arrived, for instance from the app. Publishing again may show it twice.
            """),
    ]

    /// The reasons that Apple does not have. The reasons of `invalid` are on the page `Producers`.
    private static let reasons = [
        HelpEntry("DeadlinePassed", "expired", "The job's deadline came first."),
        HelpEntry("ExpirationPassed", "expired", "The job's expiration came first."),
        HelpEntry(
            "NoAnswer", "unknown", "The request was sent, and no answer came; detail says what came instead."),
        HelpEntry(
            "Unreachable", "exhausted",
            "A host for broadcast channels could not be reached, or APNs left the request unprocessed 100 times."),
        HelpEntry(
            "HeldFull", "exhausted",
            "The queue in which the job was to wait for its time, or for the end of its campaign's pause, is full."),
        HelpEntry("BadHeaders", "exhausted", "The job's headers leave no room for those of a retry copy."),
        HelpEntry(
            "Poison", "exhausted",
            "The job came back to its queue too often: workers died of it, or it was given back that often."),
        HelpEntry(
            "NotConfigured", "rejected", "A job about broadcast channels, and the worker knows no host for them."),
    ]

    /// The whole text.
    private static var text: String {
        var help = HelpText(
            """
            There is one result for each notification: for each device token of a job. Results are final; retries in \
            between are not reported.
            """)
        help.add(
            "Exchange and routing key",
            """
            The topic exchange is \(TopologyNames.results), the routing key <outcome>.<environment>.<topic>, such as \
            dead_token.production.com.example.app; an unknown part is -. The queue \(TopologyNames.resultsQueue) gets \
            all of them and holds 2 GiB. Drain it: pushes stop while it is full. A copy for a job's reply_to goes to \
            the direct exchange \(TopologyNames.replies).
            """)
        help.add("Properties", entries: properties)
        help.add("Headers", entries: ContractSchema(PackageResources.result_headers_schema_json).properties)
        help.add(
            "Fields of the body",
            """
            The body is one JSON object. Times are milliseconds since 1970, durations milliseconds. Ignore fields that \
            you do not know.
            """, entries: ContractSchema(PackageResources.result_schema_json).properties)
        help.add(
            "Several results in a message",
            """
            Where results.batch is configured, or a job asks for it, a message of the type \
            \(MessageName.resultBatchType) has several results in the array \(BatchField.results). What an entry lacks \
            stands at the top; both together are a result. Each entry has a \(BatchField.messageID) of its own: dedupe \
            by that and the outcome.
            """)
        help.add("Outcomes", entries: outcomes)
        help.add("Actions", entries: actions)
        help.add("Reasons of Martlet's own", "Other reasons are Apple's.", entries: reasons)
        help.add("Example", verbatim: example)
        return help.text
    }
}
