import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("What holds jobs about channels back", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct ChannelTroubleTests {
    private static let named = #""channel_id":"\#(ChannelTests.channel)","payload":{}"#

    @Test("a route's rate counts requests about channels and pushes together")
    func rate() async throws {
        let ring = try await ChannelTests.Ring("channel-rate", requestTimeout: "5s", rate: 4)
        let jobs = (0..<3).flatMap { number -> [(job: TestJob, correlation: String)] in
            [
                (.enveloped("{\(Self.named)}"), "broadcast \(number)"),
                (.enveloped(#"{"operation":"list_channels"}"#), "list \(number)"),
                (.raw(token: .text(Tokens.good)), "push \(number)"),
            ]
        }
        let start = ContinuousClock.now
        try ring.client.publish(jobs)
        for job in jobs { #expect(try ring.client.result(job.correlation).result.outcome == "accepted") }
        // One may go at once; the eight others a quarter of a second after each other, or later.
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(ring.server.requests.count == 9)
        try await ring.stop()
    }
}
