import PushModel
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route writes about dead device tokens", .timeLimit(.minutes(1)))
struct RouteDeadTokenTests: RouteSuite {
    private static func dead(_ action: Action, since: Int64?) -> JobInFlight.Purpose {
        .deadLetter(
            FinalReport(.deadToken, action, status: 410, reason: .unregistered, tokenInvalidSince: since))
    }

    /// The headers of what a job publishes once all of it is settled: action, indexes, times.
    private func letters(_ job: JobInFlight, withProducerHeaders: Bool = true) throws -> [[String?]] {
        let route = try route()
        return job.takeGroups().map { group in
            var message = OutgoingMessage()
            let content = group.content(tokenCount: job.job.tokenCount)
            renderer.render(
                Publication(job: job, route: route, content: content), into: &message,
                withProducerHeaders: withProducerHeaders)
            return ["x-apns-action", "x-apns-indexes", "x-apns-token-invalid-since"].map { header($0, in: message) }
        }
    }

    private func job(_ body: String) throws -> JobInFlight {
        let route = try route()
        take(delivery(returns: 0, body: body), route)
        return try #require(route.devices.waiting.first)
    }

    @Test("Device tokens to be held have a letter of their own, and each letter says since when its tokens are dead")
    func multicast() throws {
        let job = try job(#"{"id":"job-1","device_tokens":["aa","bb","cc","dd"],"payload":{"aps":{}}}"#)
        for (index, action, since) in [(3, .dropToken, 33), (1, .hold, nil), (0, .dropToken, 30), (2, .dropToken, nil)]
            as [(Int, Action, Int64?)]
        {
            job.gather(Self.dead(action, since: since), index: index)
        }
        #expect(try letters(job) == [["drop_token", "0,2-3", "30,0,33"], ["hold", "1", nil]])
    }

    @Test("A letter of all device tokens has a time for each of them, unless the broker's frames are too small")
    func whole() throws {
        let job = try job(#"{"id":"job-1","device_tokens":["aa","bb"],"payload":{"aps":{}}}"#)
        for fits in [true, false] {
            for index in [1, 0] { job.gather(Self.dead(.dropToken, since: 30 + Int64(index)), index: index) }
            #expect(try letters(job, withProducerHeaders: fits) == [["drop_token", nil, fits ? "30,31" : nil]])
        }
    }

    @Test("The letter of a single device token has its time")
    func single() throws {
        let job = try job(#"{"id":"job-1","device_token":"aa","payload":{"aps":{}}}"#)
        job.gather(Self.dead(.dropToken, since: 1_763_712_764_120), index: 0)
        #expect(try letters(job) == [["drop_token", nil, "1763712764120"]])
    }
}
