import EventLoop
import PushModel
import Topology
import WorkerSettings

/// What a route publishes for its jobs, from a settlement to the broker's confirm: results and replies, retry copies
/// and dead letters. It also has the refused jobs, which owe nothing but results.
///
/// Every publication is owed by its job until the fate of the publication is known. So a job is not finished, and its
/// delivery not acknowledged, before the broker has everything that the job led to.
///
/// A class, so that nothing is copied when the route asks before each push whether results can leave. Confined to its
/// lane.
final class Outbox {
    private let publisher: Publisher
    private let replyPattern: ReplyPattern
    private let tally: RouteTally
    /// The position of the route on the lane.
    private let route: Int
    /// Results of this turn that share messages.
    private var batches: ResultBatches
    /// Jobs that are refused, whose results wait for room.
    private(set) var refused = RefusedJobs()
    /// Says which tier has which position.
    private let policy: RetryPolicy
    /// How many publications have no known fate yet.
    private(set) var underWay = 0
    /// Whether the broker has not taken results of the route for so long that another worker should have the jobs that
    /// were not sent.
    private(set) var isHeldUp = false

    /// An outbox without publications.
    ///
    /// - Parameters:
    ///   - publisher: Publishes them.
    ///   - replyPattern: Which `reply_to` are allowed.
    ///   - route: The position of the route on the lane.
    ///   - resultsBatch: How many results the configuration wants in a message.
    ///   - policy: Says which tier has which position.
    ///   - tally: Counts copies, and replies that are refused or lost.
    init(
        _ publisher: Publisher, replyPattern: ReplyPattern, route: Int, resultsBatch: Int, policy: RetryPolicy,
        tally: RouteTally
    ) {
        self.publisher = publisher
        self.replyPattern = replyPattern
        self.tally = tally
        self.route = route
        self.policy = policy
        batches = ResultBatches(size: resultsBatch)
    }

    // MARK: Whether anything can leave

    /// Time passed: results may have been held up for so long that another worker should have the unsent jobs.
    func passTime(now: MonotonicTime) { isHeldUp = publisher.heldUpAt(route).map { now >= $0 } ?? false }

    /// Whether no push may start, because results of the route, or of all routes, cannot leave.
    var isCongested: Bool { publisher.isCongested(for: route) }

    /// Whether a route that waited for results to go out can go on: pushes may start, and refused jobs may be reported.
    var mayGoOn: Bool { !isCongested && (refused.isEmpty || refused.mayReport(publisher, of: route)) }

    /// Whether results wait for the end of the turn.
    var hasBatches: Bool { !batches.isEmpty }

    /// Why publications of the route do not go through, for readiness, such as `results_full`; nil if they do.
    var trouble: String? { publisher.trouble(of: route) }

    /// The positions of holding tiers that the broker lacks, as far as is known.
    var missingTiers: Set<Int> { publisher.missingTiers }

    // MARK: Refused jobs

    /// Takes a job that is refused. Its results wait for room.
    func refuse(_ job: JobInFlight) { refused.take(job) }

    /// The next notification of a refused job; nil where its result may not be queued now.
    func nextRefused() -> Notification? { refused.next(publisher, of: route) }

    /// Takes out the refused jobs of which nothing was reported yet, so that another worker may report them.
    func takeUnreported() -> [JobInFlight] { refused.takeUnreported() }

    /// The channel of the route's deliveries is gone: refused jobs come again. Publications still find their fate.
    func generationEnded() { refused.removeAll() }

    // MARK: Publishing

    /// Publishes the result of a notification. If a reply is wanted and allowed, only the reply is published now. The
    /// result follows when the fate of the reply is known, because the result says if the reply was lost.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - content: What became of the notification.
    ///   - note: The number of the note in the journal that the message waits for; nil for none.
    func publish(_ notification: Notification, _ content: ResultContent, note: UInt64?) {
        publish(notification.index, content, of: notification.job, note: note)
    }

    private func publish(_ index: Int, _ content: ResultContent, of job: JobInFlight, note: UInt64?) {
        var content = content
        if let address = job.job.replyTo {
            let bytes = job.job.bytes
            guard let refusal = ReplyWay.refusal(of: bytes.span.extracting(address), allowed: replyPattern) else {
                return publish(index, content, isReply: true, for: job, note: note)
            }
            tally.counters.repliesLost += 1
            content.report.addDetail("no reply was sent: \(refusal)")
        }
        publish(index, content, isReply: false, for: job, note: note)
    }

    /// Publishes a result or a reply: at the end of the turn together with others, or as a message of its own.
    private func publish(
        _ index: Int, _ content: ResultContent, isReply: Bool, for job: JobInFlight, note: UInt64? = nil
    ) {
        guard batches.takes(job.job),
            publisher.add(index, content, of: job, isReply: isReply, to: &batches, of: route, note: note)
        else {
            return publish(
                isReply ? .reply(index: index, content) : .result(index: index, content), for: job, note: note)
        }
        refused.published(for: job)
    }

    /// Queues a publication that the job's acknowledgement then waits for.
    ///
    /// - Parameters:
    ///   - content: The contents.
    ///   - job: The job that the publication belongs to.
    ///   - note: The number of the note in the journal that the publication waits for; nil for none.
    func publish(_ content: Publication.Content, for job: JobInFlight, note: UInt64? = nil) {
        if case .retry(_, let attempt, let indexes, _) = content, attempt == job.job.attempt {
            // A copy about fewer notifications than the delivery has cannot pass for the delivery.
            let isWhole = indexes.map { $0.count >= job.job.notificationCount } ?? true
            if isWhole { job.comesBackUnchanged = true }
        }
        refused.published(for: job)
        enqueue(content, for: job.owe(), note: note)
    }

    /// Queues the batches of this turn.
    func publishBatches() {
        guard !batches.isEmpty else { return }
        for batch in batches.take() {
            guard let obligation = batch.takeObligation() else { continue }
            enqueue(.batch(batch, batch.isReply ? .exchange : nil), for: obligation, note: batch.note)
        }
    }

    private func enqueue(
        _ content: consuming Publication.Content, for obligation: consuming Obligation, note: UInt64? = nil
    ) {
        underWay += 1
        publisher.enqueue(Publication(obligation, route: route, content: content, note: note))
    }

    // MARK: Fates

    /// The broker took a publication, lost a reply, or has no room for a copy: its frames are too small, or the holding
    /// tier is full. Publishes what follows.
    ///
    /// - Parameters:
    ///   - publication: The publication.
    ///   - fate: What became of the publication.
    ///   - moment: The time.
    ///   - finished: Hears of each job for which nothing is left to do but to settle its delivery.
    func ended(
        _ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment,
        finished: (JobInFlight) -> Void
    ) {
        guard let obligation = publication.takeObligation() else { return assertionFailure("it ended before") }
        underWay -= 1
        let job = publication.job
        switch publication.content {
        case .reply(let index, let content, let way):
            let step = step(after: fate, of: way, to: job)
            guard step != .tryQueue else { return enqueue(.reply(index: index, content, .queue), for: obligation) }
            replied(index, content, for: job, loss: step.loss)
        case .batch(let batch, let way?):
            let step = step(after: fate, of: way, to: job)
            guard step != .tryQueue else { return enqueue(.batch(batch, .queue), for: obligation, note: batch.note) }
            let loss = step.loss
            for (index, content) in batch.replied { replied(index, content, for: job, loss: loss) }
        case .retry(_, _, let indexes, _) where fate == .unfit:
            giveUpCopy(
                of: job, indexes,
                FinalReport(
                    .exhausted, .fixRequest, reason: .badHeaders,
                    detail: "its headers leave no room for those of a retry copy in the broker's frames (frame_max)"),
                at: moment)
        case .retry(let tier, _, let indexes, _) where fate == .refused:
            giveUpCopy(
                of: job, indexes,
                FinalReport(
                    .exhausted, .replay, reason: .heldFull,
                    detail:
                        "\(RetryTier.all(of: policy)[tier].queue), where jobs wait for their time, is full: send it "
                        + "again when there is room, or nearer to its time; martlet status shows what waits, and "
                        + "retry.holding_limit is the limit"
                ), at: moment)
        case .retry(let tier, _, let indexes, _):
            tally.counters.retryCopies[tier] += 1
            if !job.isHeld { tally.counters.retries[tier] += indexes?.count ?? job.job.notificationCount }
        case .result, .deadLetter, .batch: break
        }
        obligation.fulfil { job, count in
            refused.confirmed(for: job, count)
            if job.isFinished { finished(job) }
        }
    }

    private func step(
        after fate: ConfirmTracker<Publication>.Fate, of way: ReplyWay, to job: JobInFlight
    ) -> ReplyWay.Step {
        let bytes = job.job.bytes
        return way.step(
            after: fate, address: bytes.span.extracting(job.job.replyTo ?? 0..<0),
            mayWriteToQueues: publisher.mayWriteToQueues)
    }

    /// Publishes a result once the fate of its reply is known.
    private func replied(_ index: Int, _ content: ResultContent, for job: JobInFlight, loss: String?) {
        var content = content
        if let loss {
            tally.counters.repliesLost += 1
            content.report.addDetail(loss)
        }
        publish(index, content, isReply: false, for: job)
    }

    /// Reports notifications that cannot wait, because the broker's frames are too small for a copy of the job, or the
    /// holding tier of the copy is full.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - indexes: The notifications that the copy was about; nil for all notifications of the job.
    ///   - final: Their report.
    ///   - moment: The time.
    private func giveUpCopy(of job: JobInFlight, _ indexes: [Int]?, _ final: FinalReport, at moment: Moment) {
        job.comesBackUnchanged = false
        let all = sequence(first: job.job.nextIndex(from: 0)) { $0.flatMap { job.job.nextIndex(from: $0 + 1) } }
        for index in indexes ?? all.prefix(while: { $0 != nil }).compactMap(\.self) {
            tally.counters.outcomes.count(final.outcome, final.reason)
            let content = ResultContent(report: final, finishedAt: moment.wall)
            publish(index, content, of: job, note: nil)
        }
        publish(.deadLetter(final, indexes: indexes), for: job)
    }
}

extension ReplyWay.Step {
    /// What the result says about the reply; nil where it arrived.
    fileprivate var loss: String? {
        guard case .lost(let words) = self else { return nil }
        return "the reply \(words)"
    }
}
