import ArgumentParser
import PushModel

/// Where a job goes and how it is treated.
struct PushDeliveryOptions: ParsableArguments {
    /// What happens to a notification that was sent and never answered.
    enum UnknownPolicy: String, CaseIterable, ExpressibleByArgument {
        /// It is sent again, and may arrive twice.
        case retry
        /// It is reported as `unknown`.
        case report
    }

    /// How the results of a job come.
    enum ResultForm: String, CaseIterable, ExpressibleByArgument {
        /// A message may hold several results of the job.
        case batch
    }

    @Option(help: "The APNs topic: the bundle identifier, with a suffix such as .voip where the push type needs one.")
    var topic: String?
    @Option(
        help:
            "Which APNs the tokens belong to: production or development.\n(default: development; with --jobs each line's own)"
    )
    var environment: APNSEnvironment?
    @Option(name: .customLong("class"), help: "high for jobs that a person waits for, else normal.")
    var jobClass: JobClass = .normal
    @Option(help: "Apple's push type, for example alert, background or voip. (default: derived by the worker)")
    var pushType: String?
    @Option(help: "10, 5 or 1. (default: 10, and 5 for background)") var priority: Int?
    @Option(
        help: ArgumentHelp(
            "Until when APNs keeps the notification: ISO 8601, seconds or milliseconds since 1970, +10m, or 0 for one attempt.",
            valueName: "time"),
        transform: MomentArgument.orZero)
    var expiration: MomentArgument?
    @Option(name: .customLong("collapse-id"), help: "Lets a later notification replace this one; at most 64 bytes.")
    var collapseID: String?
    @Option(
        name: .customLong("\(HeaderName.apnsID)"),
        help: "The notification's id, a UUID. (default: derived from the job id)")
    var apnsID: String?
    @Option(help: "The job id. (default: a new UUID)") var id: String?
    @Option(
        help: ArgumentHelp(
            "After this moment the job is not sent any more: ISO 8601, seconds or milliseconds since 1970, or +10m.",
            valueName: "time"),
        transform: MomentArgument.init)
    var deadline: MomentArgument?
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp(
            """
            Before this moment the job is not sent: 18:00 (today or tomorrow, local time), +10m, ISO 8601, or seconds or \
            milliseconds since 1970; at most 30 days from now.
            """,
            valueName: "time"),
        transform: MomentArgument.orClock)
    var notBefore: MomentArgument?
    @Option(help: "What to do when APNs does not answer: retry (may arrive twice) or report. (default: retry)")
    var onUnknown: UnknownPolicy?
    @Option(help: "batch: a message may hold several of the job's results. (default: as the worker is configured)")
    var results: ResultForm?
    @Option(help: "A text of yours that the result repeats.") var reference: String?
    @Flag(help: "Use the raw form: the payload alone as body, everything else in headers.") var raw = false

    /// Whether an option was given that makes sense only for a single job.
    var describesOneJob: Bool {
        pushType != nil || priority != nil || expiration != nil || collapseID != nil || apnsID != nil || id != nil
            || deadline != nil || notBefore != nil || onUnknown != nil || results != nil || reference != nil || raw
    }
}

extension APNSEnvironment: ExpressibleByArgument {}
extension JobClass: ExpressibleByArgument {}
