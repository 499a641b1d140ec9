import ArgumentParser
import FoundationEssentials
import Glibc
import PushModel
import Rig

/// `martlet push`: publishes one job from flags, or many jobs from a file.
struct PushCommand: ParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Publish notification jobs: one from flags, or many from a file of JSON Lines.",
        discussion: """
            The broker confirms every job; without --wait that is all this command waits for. With --wait it also says \
            which queue has no consumer, where RabbitMQ's management API can be asked: MARTLET_BROKER_MANAGEMENT beside \
            MARTLET_BROKER_URI, else the broker's host and login with port 15672.

            Examples:
              martlet push 00fc13ad… --topic com.example.app --alert "Shipped" --wait
              martlet push 00fc13ad… --topic com.example.app --alert "Dinner" --at 18:00
              martlet push a1b2 c3d4 --topic com.example.app --payload order.json
              martlet push --channel dHN0LXNyY2gtY2hubA== --topic com.example.app \\
                  --event update --content-state '{"goals":2}'
              martlet push --create-channel --storage-policy most-recent \\
                  --topic com.example.app --wait
              martlet push --jobs campaign.jsonl --rate 5000
              generate-jobs | martlet push --jobs - --topic com.example.app
            """)

    @Argument(help: ArgumentHelp("Device tokens; several make one multicast job.", valueName: "device-token"))
    var tokens: [String] = []

    @OptionGroup(title: "What to push") var content: PushContentOptions
    @OptionGroup(title: "Live Activities") var activity: PushActivityOptions
    @OptionGroup(title: "Broadcast channels") var broadcastChannels: PushBroadcastChannelOptions
    @OptionGroup(title: "How to push it") var delivery: PushDeliveryOptions

    @Option(
        help: ArgumentHelp(
            "Publish one enveloped job per line of this file; - reads standard input.", valueName: "file"))
    var jobs: String?

    @Option(help: ArgumentHelp("Publish at most this many jobs per second.", valueName: "jobs/s"))
    var rate: Double?

    @Flag(help: "Wait for the results and print them; the exit status is 1 unless all were accepted.")
    var wait = false

    @Option(help: "How long --wait waits after the last job was published, or after the time of --at.")
    var waitTimeout = TimeSpan(.seconds(60))

    @Flag(
        name: [.customShort("n"), .long],
        help: "Print the messages instead of publishing them; they have no time of publishing then.")
    var dryRun = false

    @OptionGroup(title: "Broker") var broker: BrokerOptions
    @OptionGroup var format: OutputOptions

    var namedBroker: String? { broker.broker }

    func validate() throws {
        let isEmpty = content.shape(activity.content(now: 0)).isEmpty
        if let mistake = broadcastChannels.mistake { throw ValidationError(mistake) }
        if jobs == nil {
            try validateOneJob(isEmpty: isEmpty)
        } else if !tokens.isEmpty || broadcastChannels.request != nil || content.payload != nil || !isEmpty
            || delivery.describesOneJob
        {
            throw ValidationError(
                "--jobs brings tokens and payloads with it; only --topic, --environment and --class go along.")
        }
        if let rate, !(0.001...1_000_000).contains(rate) {
            throw ValidationError("--rate must be between 0.001 and 1000000.")
        }
        if let limit = delivery.priority, ![1, 5, 10].contains(limit) {
            throw ValidationError("--priority must be 10, 5 or 1.")
        }
    }

    private func validateOneJob(isEmpty: Bool) throws {
        let broadcastChannel = broadcastChannels.request
        if tokens.isEmpty && broadcastChannel == nil {
            throw ValidationError("Give a device token, a broadcast channel, or --jobs with a file.")
        }
        if !tokens.isEmpty && broadcastChannel != nil {
            throw ValidationError("A job goes to device tokens or to a broadcast channel, not to both.")
        }
        if delivery.topic == nil { throw ValidationError("Give the app's --topic, usually its bundle identifier.") }
        if content.payload != nil && !isEmpty {
            throw ValidationError("Give --payload or the alert's parts, not both.")
        }
        if broadcastChannel == nil || broadcastChannel?.isBroadcast == true {
            if content.payload == nil && isEmpty {
                throw ValidationError("Nothing to push: give --alert, another part of the alert, or --payload.")
            }
        } else if content.payload != nil || !isEmpty {
            throw ValidationError("Only a broadcast has content: leave it out, or give --channel.")
        }
    }

    func run() throws {
        let source = try jobSource()
        if dryRun { return try PushPreview.print(source, format.output) }
        let endpoints = try broker.target.endpoints()
        let link = try CommandConnection.open(endpoints, timeout: .seconds(10), heartbeat: false)
        defer { link.close() }
        // Without a management API the command still waits for results.
        let client = wait ? try? broker.target.managementClient(nil, beside: endpoints) : nil
        let consumers = client.map { ConsumerWatch($0, virtualHost: link.virtualHost) }
        var run = PushRun(
            link: link, format: format.output, rate: rate, quiet: jobs == nil, consumers: consumers)
        if wait { try run.listenForReplies() }
        try run.publish(source)
        if wait { try run.collectReplies(for: waitTimeout.duration) }
        let status = run.finish()
        if status != .ok { throw status }
    }

    /// What is wrong with the time zone in which `--at` was given.
    private var zoneWarnings: [String] {
        guard case .clock? = delivery.notBefore?.kind else { return [] }
        let trouble = LocalClock.trouble(withZoneOf: ProcessInfo.processInfo.environment) {
            FileManager.default.fileExists(atPath: $0)
        }
        return trouble.map { [$0] } ?? []
    }

    /// Where the jobs come from.
    private func jobSource() throws -> JobSource {
        if let jobs {
            if jobs == "-" && isatty(STDIN_FILENO) == 1 {
                Console.talk("Reading jobs from the terminal, one per line; end with Ctrl-D.")
            }
            let line = JobLine(
                defaultTopic: delivery.topic, defaultEnvironment: delivery.environment, jobClass: delivery.jobClass)
            return .lines(try LineReader(path: jobs), line)
        }
        let payload = try content.payload.map { path throws(CommandFailure) in
            try LineReader(path: path).everything(limit: 64 << 10)
        }
        let shape = content.shape(activity.content(now: JobIdentifier.now()))
        let draft = PushDraft(
            id: delivery.id ?? JobIdentifier.new(), tokens: tokens, broadcastChannel: broadcastChannels.request,
            topic: delivery.topic ?? "", environment: delivery.environment ?? .development,
            jobClass: delivery.jobClass, payload: payload ?? shape.json, pushType: delivery.pushType,
            priority: delivery.priority,
            expiration: delivery.expiration.map { $0.milliseconds(now: JobIdentifier.now()) / 1000 },
            collapseID: delivery.collapseID, apnsID: delivery.apnsID,
            deadline: delivery.deadline?.milliseconds(now: JobIdentifier.now()),
            notBefore: delivery.notBefore?.milliseconds(now: JobIdentifier.now()), onUnknown: delivery.onUnknown,
            results: delivery.results, reference: delivery.reference, raw: delivery.raw)
        var job = try draft.job()
        try job.check()
        for warning in PushLint(draft).warnings + zoneWarnings { Console.talk("warning: \(warning)") }
        return .one(job)
    }
}
