import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("What holds jobs about broadcast channels back", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct BroadcastChannelTroubleTests {
    private static let named = #""channel_id":"\#(BroadcastChannelTests.channelID)","payload":{}"#

    @Test("a route's rate counts requests about broadcast channels and pushes together")
    func rate() async throws {
        let ring = try await BroadcastChannelTests.Ring("broadcast-rate", requestTimeout: "5s", rate: 4)
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

    @Test("a host whose credential was refused works again after a probe, for which a job waits that no tier can take")
    func unparks() async throws {
        let ring = try await BroadcastChannelTests.Ring(
            "broadcast-unparks",
            { request, before in
                before == 0 && request.line.contains("broadcasts")
                    ? .init(status: 403, body: #"{"reason":"InvalidProviderToken"}"#)
                    : BroadcastChannelTests.apple(request, before)
            }, requestTimeout: "5s")
        let copies = try ring.client.tap("apns.retry.4s")
        try ring.client.publish(.enveloped("{\(Self.named)}"), as: "refused")
        _ = try ring.client.next("refused", from: copies)
        try ring.client.publish(.enveloped("{\(Self.named),\"expiration\":0}"), as: "now or never")
        let waited = try ring.client.result("now or never").result
        #expect(waited.outcome == "accepted" && waited.attempt == 1, "\(waited)")
        let probed = try ring.client.result("refused").result
        #expect(probed.outcome == "accepted" && probed.attempt == 1, "\(probed)")
        try await ring.stop()
    }

    @Test("jobs that no tier can take do not fill the prefetch behind a refused credential: one waits, pushes go on")
    func nowOrNever() async throws {
        let ring = try await BroadcastChannelTests.Ring("broadcast-now-or-never") { request, before in
            request.line.contains("broadcasts")
                ? .init(status: 403, body: #"{"reason":"InvalidProviderToken"}"#)
                : BroadcastChannelTests.apple(request, before)
        }
        // More than a window of them.
        let count = 2_100
        try ring.client.publish((0..<count).map { (.enveloped("{\(Self.named),\"expiration\":0}"), "broadcast \($0)") })
        try ring.client.publishGoodJob(as: "push")
        #expect(try ring.client.result("push").result.outcome == "accepted")
        let last = try ring.client.result("broadcast \(count - 1)").result
        #expect(last.outcome == "rejected" && last.action == "fix_credential", "\(last)")
        try await ring.stop()
    }

    @Test("a refusal below HTTP parks the host: the job waits in a tier for the probe")
    func refusedBelowHTTP() async throws {
        let ring = try await BroadcastChannelTests.Ring(
            "broadcast-goaway",
            { request, before in
                before == 0 && request.line.contains("broadcasts")
                    ? .init(status: 0, farewell: #"{"reason":"BadCertificate"}"#)
                    : BroadcastChannelTests.apple(request, before)
            }, requestTimeout: "5s")
        let copies = try ring.client.tap("apns.retry.4s")
        try ring.client.publish(.enveloped("{\(Self.named)}"), as: "refused")
        let copy = try ring.client.next("refused", from: copies)
        #expect(copy.number("x-apns-attempt") == 1)
        // The first of two jobs that no tier can take is the next probe.
        for job in ["probe", "now or never"] {
            try ring.client.publish(.enveloped("{\(Self.named),\"expiration\":0}"), as: job)
        }
        let refused = try ring.client.result("now or never").result
        #expect(refused.outcome == "rejected" && refused.action == "fix_credential", "\(refused)")
        #expect(refused.status == nil && refused.reason == nil, "no answer of APNs said so")
        #expect(refused.detail?.contains("is going away: NO_ERROR, BadCertificate") == true, "\(refused)")
        try ring.client.publishGoodJob(as: "push")
        #expect(try ring.client.result("push").result.outcome == "accepted")
        for job in ["probe", "refused"] {
            #expect(try ring.client.result(job).result.outcome == "accepted")
        }
        #expect(ring.server.requests.count { $0.line.contains("broadcasts") } == 3, "one twice, and the probe")
        try await ring.stop()
    }

    @Test("a multicast job that a refused credential interrupts does not wait for it: the rest goes into a tier")
    func multicast() async throws {
        let ring = try await BroadcastChannelTests.Ring(
            "parked-multicast",
            { request, before in
                before == 0 ? .init(status: 200) : .init(status: 403, body: #"{"reason":"InvalidProviderToken"}"#)
            }, requestTimeout: "5s")
        let copies = try ring.client.tap("apns.retry.4s")
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let list = Array(repeating: "\"\(token)\"", count: 300).joined(separator: ",")
        try ring.client.publish(.enveloped(#"{"device_tokens":[\#(list)],"payload":{"aps":{}}}"#), as: "many")
        _ = try ring.client.next("many", from: copies)
        #expect(try ring.client.result("many").result.outcome == "accepted")
        // As many as were open at once met the refusal; nobody asked for the others.
        #expect(ring.server.requests.count < 250)
        try await ring.stop()
    }
}
