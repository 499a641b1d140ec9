import EventLoop
import PushModel
import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("What a route publishes for its jobs", .timeLimit(.minutes(1)))
struct OutboxTests: RouteSuite {
    private let publisher: Publisher
    private let tally = RouteTally(tiers: 1)
    private let outbox: Outbox

    init() throws {
        let renderer = PublicationRenderer(
            tiers: ["2s"], routes: ["app"], worker: "worker-1", includesDeviceToken: false)
        publisher = Publisher(link: { nil }, renderer: renderer, fate: { _, _ in })
        outbox = Outbox(
            publisher, replyPattern: try ReplyPattern("^reply$"), route: 0, resultsBatch: 1, policy: RetryPolicy(),
            tally: tally)
    }

    /// A job of two notifications.
    ///
    /// - Parameter replyTo: Where its replies go; nil for no replies.
    private func job(replyTo: String? = nil) throws -> JobInFlight {
        let route = try route()
        take(delivery(returns: 0, padding: replyTo), route)
        return try #require(route.devices.waiting.first)
    }

    /// Publishes the result of a job's first notification.
    private func publish(for job: JobInFlight) {
        guard let notification = job.next() else { return }
        publish(notification)
    }

    private func publish(_ notification: PushWorker.Notification) {
        let content = ResultContent(report: FinalReport(.accepted, .none, status: 200), finishedAt: Self.wallClock)
        outbox.publish(notification, content, note: nil)
    }

    /// A publication has its fate.
    ///
    /// - Returns: Whether its job is finished.
    private func end(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate) -> Bool {
        var isFinished = false
        outbox.ended(publication, fate, at: Self.moment(1)) { _ in isFinished = true }
        return isFinished
    }

    /// What the only result that waits to be sent says beside the outcome; nil where nothing waits, or something else.
    private func detail() -> String?? {
        guard publisher.unsent.count == 1, case .result(0, let content) = publisher.unsent[0].content else {
            return nil
        }
        return .some(content.report.detail)
    }

    @Test("a job owes a publication until its fate is known, and is finished once all is settled and nothing owed")
    func owed() throws {
        let job = try job()
        let notifications = [try job.next(0), try job.next(1)]
        publish(notifications[0])
        outbox.publish(.retry(tier: 0, attempt: 2, indexes: [1]), for: job)
        #expect(job.unconfirmed == 2 && outbox.underWay == 2)
        for notification in notifications { #expect(job.settle(notification, at: Self.wallClock)) }
        var finished: [Bool] = []
        for publication in publisher.unsent {
            finished.append(end(publication, .confirmed))
        }
        #expect(finished == [false, true] && outbox.underWay == 0)
        #expect(tally.counters.retries == [1] && tally.counters.retryCopies == [1])
    }

    @Test("a result follows its reply, and says so where the reply was lost")
    func replied() throws {
        let rows: [(fate: ConfirmTracker<Publication>.Fate, words: String?)] = [
            (.confirmed, nil), (.refused, "the reply was lost: the broker refused it"),
        ]
        for row in rows {
            let suite = try OutboxTests()
            let job = try suite.job(replyTo: "reply")
            suite.publish(for: job)
            let reply = try #require(suite.publisher.channels.replies.waiting.first)
            #expect(suite.publisher.unsent.isEmpty && job.unconfirmed == 1)
            #expect(!suite.end(reply, row.fate) && job.unconfirmed == 1 && suite.outbox.underWay == 1)
            let detail = try #require(suite.detail())
            #expect(row.words.map { detail?.hasPrefix($0) == true } ?? (detail == nil))
            #expect(suite.tally.counters.repliesLost == (row.words == nil ? 0 : 1))
        }
    }

    @Test("a reply that routes nowhere goes straight to its queue, and its result still waits")
    func secondWay() throws {
        let job = try job(replyTo: "reply")
        publish(for: job)
        let reply = try #require(publisher.channels.replies.waiting.first)
        #expect(!end(reply, .returned) && job.unconfirmed == 1 && outbox.underWay == 1)
        #expect(publisher.channels.replies.waiting.last?.isReplyToQueue == true && publisher.unsent.isEmpty)
    }

    @Test("an address that the configuration does not allow gets no reply, and the result says why")
    func forbidden() throws {
        publish(for: try job(replyTo: "elsewhere"))
        #expect(publisher.channels.replies.waiting.isEmpty && tally.counters.repliesLost == 1)
        let said = try #require(detail())
        #expect(said?.hasPrefix("no reply was sent: ") == true)
    }

    @Test("a copy of a whole job with the same attempt must not be taken for its delivery")
    func unchanged() throws {
        let rows: [(attempt: Int, indexes: [Int]?, comesBack: Bool)] = [
            (1, nil, true), (1, [0, 1], true), (1, [1], false), (2, nil, false),
        ]
        for row in rows {
            let job = try job()
            outbox.publish(.retry(tier: 0, attempt: row.attempt, indexes: row.indexes), for: job)
            #expect(job.comesBackUnchanged == row.comesBack)
        }
    }
}
