import ArgumentParser
import PushModel
import Topology

/// `martlet help job`: explains how to ask for a push. The page `Producers` says more.
struct JobHelp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Jobs: the messages that ask for a push.",
        usage: "martlet help job",
        discussion: text)

    /// An enveloped job.
    static let example = """
        {
          "\(JobField.id)": "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90",
          "\(JobField.deviceToken)": "00fc13adff785122b4ad28809a342098234124142134",
          "\(JobField.pushType)": "alert",
          "\(JobField.priority)": 10,
          "\(JobField.collapseID)": "order-4711",
          "\(JobField.deadline)": "2030-01-01T12:00:00Z",
          "\(JobField.reference)": "campaign-7/user-81",
          "\(JobField.payload)": { "aps": { "alert": { "title": "Order shipped" } } }
        }
        """

    /// The parts of the routing key.
    private static let key = [
        HelpEntry(
            "environment", "production or development",
            """
            Which of Apple's two services the device token belongs to. App Store and TestFlight builds are production, \
            builds signed for development are development.
            """),
        HelpEntry(
            "class", "high or normal",
            """
            high goes to a queue of its own where the route has high_lane: true, and is sent before normal. The class \
            says nothing about Apple's priority.
            """),
        HelpEntry(
            "topic", "1 to 200 of A-Z a-z 0-9 . and -",
            "The APNs topic: the bundle identifier, with Apple's suffix where the push type needs one."),
    ]

    /// The property that tells the two forms apart, and its values.
    private static let forms = [
        HelpEntry(
            "\(MessageName.jsonContentType)", "enveloped",
            "The body is one JSON object with everything in it, for one device token or up to 1,000."),
        HelpEntry(
            "\(MessageName.rawContentType)", "raw",
            """
            The body is the APNs payload, sent byte for byte. Everything else is in headers. It carries one device \
            token.
            """),
    ]

    /// The AMQP properties.
    private static let properties = [
        HelpEntry("content_type", "string, required", "The form, see above. Case and parameters do not matter."),
        HelpEntry(
            "content_encoding", "string",
            "Leave it out. identity, utf-8, utf8, binary and the empty text are accepted."),
        HelpEntry("delivery_mode", "number", "2. Martlet's queues keep every message on disk in any case."),
        HelpEntry(
            "message_id", "string, 1 to 255 bytes of UTF-8, strongly advised",
            """
            The job id. Results repeat it, and a safe second publication needs it. Default: the field \(JobField.id), \
            else a UUID that the worker makes, another one with each delivery.
            """),
        HelpEntry(
            "correlation_id", "string, at most 255 bytes",
            "Comes back in the same property of results. Default there: the job id."),
        HelpEntry(
            "reply_to", "string, at most 255 bytes",
            """
            Where a copy of the result goes, if replies.allow matches it: the routing key on the direct exchange \
            \(TopologyNames.replies), else the name of a queue. Direct reply-to is not supported. Default: no reply.
            """),
        HelpEntry(
            "timestamp", "seconds since 1970",
            "When the job was queued. \(HeaderName.enqueuedAt) has milliseconds, and wins."),
        HelpEntry(
            "expiration", "string",
            """
            Do not use it: the broker itself ends the job then, and the result cannot say whether it was pushed \
            before. Use a deadline.
            """),
        HelpEntry(
            "priority, type, app_id", "any", "Mean nothing to the worker; copies of the job keep them."),
        HelpEntry("user_id", "string", "The broker checks it; copies of the job go without it."),
    ]

    /// The ways to write a time.
    private static let times = [
        HelpEntry(
            "2030-01-01T12:00:00Z", "date and time (RFC 3339)", "With an offset, such as Z or +01:00."),
        HelpEntry("1893499200", "seconds since 1970", "10 to 12 digits."),
        HelpEntry("1893499200000", "milliseconds since 1970", "13 to 15 digits."),
        HelpEntry(
            "Anything else", "BadDeadline, BadNotBefore, BadExpirationDate or BadHeaders",
            """
            What is before September 2001 or after the year 9999 makes the job invalid, and the detail says how it was \
            read.
            """),
    ]

    /// The suffixes of topics, and the push types that they mean.
    private static let suffixes = [
        HelpEntry(".voip", "voip", ""),
        HelpEntry(".complication", "complication", ""),
        HelpEntry(".voip-ptt", "pushtotalk", ""),
        HelpEntry(".location-query", "location", ""),
        HelpEntry(".pushkit.fileprovider", "fileprovider", ""),
        HelpEntry(".push-type.liveactivity", "liveactivity", ""),
        HelpEntry(".push-type.widgets", "widgets", ""),
        HelpEntry(".push-type.controls", "controls", ""),
    ]

    /// What the operations ask APNs to do.
    private static let operations = [
        HelpEntry("push", "with a payload", "Push to devices."),
        HelpEntry(
            "broadcast", "with a broadcast channel and a payload",
            "Send an update to all listeners of a broadcast channel."),
        HelpEntry(
            "create_channel", "with a storage policy", "Make a broadcast channel, whose identifier APNs chooses."),
        HelpEntry("read_channel", "with a broadcast channel", "Say what a broadcast channel's storage policy is."),
        HelpEntry("list_channels", "List all broadcast channels of the app."),
        HelpEntry("delete_channel", "with a broadcast channel", "Delete a broadcast channel."),
    ]

    /// The whole text.
    private static var text: String {
        var help = HelpText(
            """
            A job is one AMQP message. It asks for one payload to go to one device token, or to up to 1,000. Each pair \
            of payload and device token is a notification, and each notification gets a result: see martlet help \
            result.
            """)
        help.add(
            "Exchange and routing key",
            """
            Publish to the topic exchange \(TopologyNames.jobs), with publisher confirms and the flag mandatory. The \
            routing key is <environment>.<class>.<topic>, such as production.normal.com.example.app.
            """, entries: key)
        help.add("Two forms, by the property content_type", entries: forms)
        help.add(
            "Properties of both forms",
            """
            Do not set the headers \(BrokerHeader.copies) and \(BrokerHeader.hiddenCopies): each copy would be pushed.
            """,
            entries: properties)
        let headers = ContractSchema(PackageResources.raw_job_headers_schema_json, nullIsAbsence: true).properties
        help.add(
            "Headers of both forms",
            """
            A header wins over the field that says the same. Numbers may be integers or their decimal digits as text. \
            All headers together have at most 32 KiB and 8 levels. The worker writes \(HeaderName.version), \
            \(HeaderName.attempt), \(HeaderName.firstAttemptAt), \(HeaderName.indexes) and \(HeaderName.duplicate) \
            itself; leave them out, and \(BrokerHeader.death), too.
            """, entries: headers.filter { !$0.name.hasPrefix("apns-") })
        help.add("Headers of a raw job", entries: headers.filter { $0.name.hasPrefix("apns-") })
        help.add(
            "Fields of an enveloped job",
            """
            The body has at most 256 KiB and 64 levels. A field that is null counts as absent. A field that is unknown \
            is ignored and counted. A field that is given twice makes the job invalid. Whole numbers have neither \
            fraction nor exponent.
            """, entries: ContractSchema(PackageResources.job_schema_json, nullIsAbsence: true).properties)
        help.add("Times", "Every time, in a field or a header, may be written in each of these ways:", entries: times)
        help.add("Push types by the topic's suffix", entries: suffixes)
        help.add("Operations", entries: operations)
        help.add(
            "Example",
            "A body with the content type \(MessageName.jsonContentType); martlet push --dry-run prints another:",
            verbatim: example)
        return help.text
    }
}
