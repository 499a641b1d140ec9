import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("Replies without a fate", .timeLimit(.minutes(1)))
final class OpenRepliesTests: RouteSuite {
    private var replies = OpenReplies()

    @Test("A route whose replies were abandoned has none for a minute, and for longer each time that it happens again")
    func rests() {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        replies.abandoned(of: 1, now: now)
        replies.abandoned(of: 1, now: now)
        #expect(replies.rests(1, now: now + .seconds(59)) && !replies.rests(1, now: now + .seconds(60)))
        #expect(!replies.rests(0, now: now) && replies.hasAbandoned)
        now = now + .seconds(90)
        replies.abandoned(of: 1, now: now)
        #expect(replies.rests(1, now: now + .seconds(119)) && !replies.rests(1, now: now + .seconds(120)))
        // Long after, it begins anew.
        now = now + .seconds(1_000)
        replies.abandoned(of: 1, now: now)
        #expect(replies.rests(1, now: now + .seconds(59)) && !replies.rests(1, now: now + .seconds(60)))
    }

    @Test("While a route has none, those of it that wait to be published are given up, and no others")
    func givenUp() throws {
        var ended: [Int] = []
        let publisher = Publisher(link: { nil }, renderer: renderer) { publication, fate in
            #expect(fate == .abandoned)
            ended.append(publication.route)
        }
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let content = ResultContent(report: FinalReport(.accepted, .none, status: 200), finishedAt: Self.wallClock)
        func enqueue(_ route: Int) {
            publisher.enqueue(Publication(job: job, route: route, content: .reply(index: 0, content)))
        }
        publisher.openReplies.abandoned(of: 0, now: Self.moment(1).monotonic)
        for route in [0, 1, 0] { enqueue(route) }
        publisher.publish(now: Self.moment(60).monotonic)
        #expect(ended == [0, 0] && publisher.channels.replies.waiting.map(\.route) == [1])
        #expect(publisher.counts.confirms[LaneCounters.Confirm.lost.rawValue] == 2)
        #expect(!publisher.openReplies.has(of: 0) && publisher.openReplies.has(of: 1))
        enqueue(0)
        publisher.publish(now: Self.moment(61).monotonic)
        #expect(ended == [0, 0] && publisher.channels.replies.waiting.map(\.route) == [1, 0])
    }

    @Test("They are counted by route until each has met its fate")
    func counts() {
        replies.began(of: 2)
        replies.began(of: 2)
        replies.began(of: 0)
        replies.ended(of: 2)
        #expect(replies.has(of: 0) && !replies.has(of: 1) && replies.has(of: 2))
        replies.ended(of: 2)
        replies.ended(of: 7)
        #expect(replies.has(of: 0) && !replies.has(of: 2) && !replies.has(of: 7))
    }

    @Test(
        "Replies go straight to queues until the broker forbids its default exchange, and again on another connection",
        arguments: [
            (403, "ACCESS_REFUSED - access to exchange 'amq.default' in vhost '/' refused for user 'w'", true),
            (403, "ACCESS_REFUSED - access to exchange 'apns.replies' in vhost '/' refused for user 'w'", false),
            (404, "NOT_FOUND - no exchange 'amq.default' in vhost '/'", false),
        ] as [(UInt16, String, Bool)])
    func queues(code: UInt16, text: String, isForbidden: Bool) {
        let isOverQueues = replies.channelClosed(code: code, text: text)
        #expect(isOverQueues == isForbidden && replies.mayWriteToQueues == !isForbidden)
        replies.connectionOpened()
        #expect(replies.mayWriteToQueues)
    }

    @Test("An abandoned reply may come back on its connection only")
    func abandoned() {
        #expect(!replies.hasAbandoned)
        replies.abandoned(of: 0, now: MonotonicTime(nanoseconds: 0))
        #expect(replies.hasAbandoned)
        replies.connectionLost()
        #expect(!replies.hasAbandoned)
    }
}
