import EventLoop
import Testing

@testable import PushWorker

@Suite("Replies without a fate", .timeLimit(.minutes(1)))
final class OpenRepliesTests {
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
