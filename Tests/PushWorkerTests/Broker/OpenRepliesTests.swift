import Testing

@testable import PushWorker

@Suite("Replies without a fate", .timeLimit(.minutes(1)))
final class OpenRepliesTests {
    private var replies = OpenReplies()

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
        replies.abandoned()
        #expect(replies.hasAbandoned)
        replies.connectionLost()
        #expect(!replies.hasAbandoned)
    }
}
