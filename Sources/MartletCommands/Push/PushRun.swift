import EventLoop
import PushModel
import Rig
import Text
import Topology

/// One run of `martlet push`: publishes, counts, waits, reports.
struct PushRun {
    /// How many jobs ended how so far.
    struct Counts: Equatable {
        /// Handed to the broker.
        var published = 0
        /// Confirmed by the broker and routed to a queue.
        var confirmed = 0
        /// Confirmed, but no queue is bound to their key.
        var returned = 0
        /// Refused by the broker.
        var refused = 0
        /// Lines that are not jobs.
        var unreadable = 0

        /// Whether every job that was read is in a queue.
        var isClean: Bool { returned + refused + unreadable == 0 }
    }

    private let link: CommandConnection
    private let format: OutputFormat
    private let quiet: Bool
    private var pacer: Pacer?
    private var progress: ProgressLine
    private var ledger = ReplyLedger()
    private var summary = ResultSummary()
    private var replyQueue: String?
    private var interrupted = false
    private var told = ToldWarnings()
    private let consumers: ConsumerWatch?
    /// The routing keys of the jobs, at most ``watchedKeys``, for ``ConsumerWatch``.
    private var keys: Set<String> = []
    private static let watchedKeys = 100
    private var unserved: Set<String> = []
    /// The earliest time to send a single job, in milliseconds since 1970; nil for now, and for many jobs.
    private var notBefore: Int64?
    private(set) var counts = Counts()
    private let began = ContinuousClock.now

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - link: The connection to the broker.
    ///   - format: How to print data.
    ///   - rate: Jobs per second; nil for as fast as the broker confirms them.
    ///   - quiet: Whether to show no progress, because there is only one job.
    ///   - consumers: Tells which queues have no consumer; nil where the management API cannot be asked.
    init(
        link: CommandConnection, format: OutputFormat, rate: Double?, quiet: Bool, consumers: ConsumerWatch? = nil
    ) {
        self.link = link
        self.consumers = consumers
        self.format = format
        self.quiet = quiet
        pacer = rate.map(Pacer.init)
        progress = ProgressLine(enabled: !quiet)
    }

    /// Declares the queue for replies. Call this before publishing, so that no reply is missed.
    mutating func listenForReplies() throws(CommandFailure) {
        let queue = TopologyNames.replyQueue(user: link.user, id: JobIdentifier.new())
        try link.declareExclusive(queue, maximumLength: nil)
        try link.bind(queue, to: TopologyNames.replies, key: queue)
        try link.consume(queue, prefetch: 1000)
        replyQueue = queue
    }

    /// Publishes every job of a source and waits until the broker has answered for each.
    mutating func publish(_ source: JobSource) throws(CommandFailure) {
        switch source {
        case .one(let job):
            notBefore = job.notBefore
            try send(job)
        case .lines(let reader, let line):
            Interrupt.watch()
            while !Interrupt.isRequested, Console.failure == nil, let bytes = try reader.next() {
                guard !bytes.isEmpty else { continue }
                do throws(CommandFailure) {
                    let job = try line.job(bytes, newID: JobIdentifier.new)
                    for warning in told.first(of: job.warnings) {
                        progress.interrupt("\(reader.name):\(reader.lineNumber): warning: \(warning)")
                    }
                    try send(job)
                } catch  where error.status == .badInput {
                    counts.unreadable += 1
                    progress.interrupt("\(reader.name):\(reader.lineNumber): \(error.message)")
                }
                showProgress()
            }
            if Interrupt.isRequested || Console.failure != nil {
                interrupted = true
                progress.interrupt("Stopped after line \(reader.lineNumber); waiting for the broker's confirms.")
            }
        }
        try link.finishPublishing { fate in note(fate) }
        progress.clear()
    }

    private mutating func send(_ job: OutgoingJob) throws(CommandFailure) {
        if var pacer {
            let wait = pacer.wait(now: .now())
            self.pacer = pacer
            if wait > .zero { try link.pause(wait) { fate in note(fate) } }
        }
        if replyQueue != nil { ledger.expect(job: job.messageID, notifications: job.notifications) }
        if keys.count < Self.watchedKeys { keys.insert(job.routingKey) }
        try link.publish(job, replyTo: replyQueue) { fate in note(fate) }
        counts.published += 1
    }

    /// Counts the broker's answer about a job, and prints it.
    private mutating func note(_ fate: PublishFate) {
        switch fate.kind {
        case .confirmed: counts.confirmed += 1
        case .returned: counts.returned += 1
        case .refused: counts.refused += 1
        }
        if fate.kind != .confirmed { ledger.forget(job: fate.messageID) }
        // With --wait and JSON, standard output has results only: a program must not meet objects of another shape.
        switch (replyQueue == nil ? format : .text, fate.kind) {
        case (.json, _):
            progress.clear()
            Console.data(Self.json(fate, notBefore: notBefore).bytes)
        case (.text, .confirmed) where quiet && format == .text:
            let time = notBefore.map { "  not before \(LocalClock.write($0))" } ?? ""
            Console.data("queued  \(fate.messageID)  \(fate.routingKey)\(time)")
        case (.text, .confirmed): break
        case (.text, _): progress.interrupt("\(fate.messageID)  \(fate.routingKey): \(fate.kind.explanation)")
        }
    }

    /// The broker's answer about a job, for programs.
    ///
    /// - Parameters:
    ///   - fate: The broker's answer.
    ///   - notBefore: The earliest time to send the job, in milliseconds since 1970; nil for now.
    static func json(_ fate: PublishFate, notBefore: Int64?) -> JSON {
        var members: [(String, JSON)] = [
            ("id", .text(fate.messageID)), ("routing_key", .text(fate.routingKey)),
            ("state", .text(fate.kind.rawValue)),
        ]
        if let notBefore { members.append(("\(JobField.notBefore)", .text(LocalClock.write(notBefore)))) }
        return .object(members)
    }

    /// Waits for the results of everything that was published.
    ///
    /// - Parameter limit: The longest wait. For a job with a time of its own it counts from that time.
    mutating func collectReplies(for limit: Duration) throws(CommandFailure) {
        let wait = Duration.milliseconds(max(0, (notBefore ?? 0) - JobIdentifier.now()))
        let deadline = ContinuousClock.now.advanced(by: limit + wait)
        var heard = ContinuousClock.now
        while ledger.outstanding > 0 && !Interrupt.isRequested && Console.failure == nil {
            let left = min(ContinuousClock.now.duration(to: deadline), .milliseconds(200))
            guard left > .zero else { break }
            guard let message = try link.next(timeout: left) else {
                if heard.duration(to: .now) >= ConsumerWatch.patience { tellUnservedQueues() }
                continue
            }
            heard = .now
            try link.acknowledge(message, upToHere: false)
            for result in ReceivedResult.read(message) where ledger.receive(result.record) { show(result) }
            progress.show("  \(TimeText.count(ledger.received)) results, \(TimeText.count(ledger.outstanding)) to come")
        }
        progress.clear()
    }

    private mutating func show(_ result: ReceivedResult) {
        summary.add(result.record)
        guard format == .json || quiet || result.record.outcome != Outcome.accepted.rawValue else { return }
        progress.clear()
        if format == .json {
            Console.data(result.line)
        } else {
            result.record.print()
        }
    }

    /// Reports each queue without a consumer, once.
    private mutating func tellUnservedQueues() {
        for queue in consumers?.look(keys) ?? [] where unserved.insert(queue).inserted {
            progress.interrupt("\(queue) has no consumer, so its jobs wait: start a worker, or see martlet status")
        }
    }

    /// Prints the counts and the missing results.
    ///
    /// - Returns: The exit status.
    mutating func finish() -> CommandStatus {
        let waited = replyQueue != nil
        if !quiet {
            let length = max(1, (ContinuousClock.now - began).wholeMilliseconds)
            Console.talk("\(Self.describe(counts)) in \(TimeText.length(length))")
            if waited { summary.lines.forEach(Console.talk) }
        }
        for job in ledger.jobsWaitedFor.prefix(10) {
            Console.talk("\(job): no result yet; look with: martlet results --follow, or martlet status")
        }
        let status = Self.status(
            counts, missingResults: waited ? ledger.outstanding : 0,
            failedResults: waited ? summary.total - summary.count(Outcome.accepted.rawValue) : 0,
            interrupted: interrupted)
        if counts.returned > 0 && status != .ok {
            Console.talk("No queue is bound to these keys. Compare with: martlet topology check")
        }
        return status
    }

    private mutating func showProgress() {
        guard progress.isDue else { return }
        let length = max(1, (ContinuousClock.now - began).wholeMilliseconds)
        progress.show("  \(Self.describe(counts)), \(TimeText.count(counts.published * 1000 / Int(length)))/s")
    }

    /// The counts in words.
    static func describe(_ counts: Counts) -> String {
        var parts = ["published \(TimeText.count(counts.published))", "confirmed \(TimeText.count(counts.confirmed))"]
        if counts.returned > 0 { parts.append("unroutable \(TimeText.count(counts.returned))") }
        if counts.refused > 0 { parts.append("refused \(TimeText.count(counts.refused))") }
        if counts.unreadable > 0 { parts.append("unreadable \(TimeText.count(counts.unreadable))") }
        return parts.joined(separator: ", ")
    }

    /// The exit status of a run.
    ///
    /// - Parameters:
    ///   - counts: What became of the jobs.
    ///   - missingResults: Results that did not come in time.
    ///   - failedResults: Results that are not `accepted`.
    ///   - interrupted: Whether publishing was ended early.
    static func status(
        _ counts: Counts, missingResults: Int, failedResults: Int, interrupted: Bool = false
    ) -> CommandStatus {
        if counts.published == 0 && counts.unreadable > 0 { return .badInput }
        if counts.published > 0 && counts.confirmed == 0 { return counts.refused > 0 ? .gaveUp : .refused }
        if !counts.isClean || failedResults > 0 { return .someFailed }
        return missingResults > 0 || interrupted ? .gaveUp : .ok
    }
}
