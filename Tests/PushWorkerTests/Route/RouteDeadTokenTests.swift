import APNSClient
import PushModel
import Testing
import Text

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route writes about dead device tokens", .timeLimit(.minutes(1)))
struct RouteDeadTokenTests: RouteSuite {
    private static func dead(_ action: Action, since: Int64?) -> JobInFlight.Purpose {
        .deadLetter(
            FinalReport(.deadToken, action, status: 410, reason: .unregistered, tokenInvalidSince: since))
    }

    /// The headers of what a job publishes once all of it is settled: action, indexes, times.
    private func letters(_ job: JobInFlight, shortened: Bool = false) throws -> [[String?]] {
        let route = try route()
        return job.takeGroups().map { group in
            var message = OutgoingMessage()
            let content = group.content(tokenCount: job.job.tokenCount)
            renderer.render(
                Publication(job: job, route: route.position, content: content), into: &message,
                shortened: shortened)
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
            #expect(try letters(job, shortened: !fits) == [["drop_token", nil, fits ? "30,31" : nil]])
        }
    }

    @Test("The letter of a single device token has its time")
    func single() throws {
        let job = try job(#"{"id":"job-1","device_token":"aa","payload":{"aps":{}}}"#)
        job.gather(Self.dead(.dropToken, since: 1_763_712_764_120), index: 0)
        #expect(try letters(job) == [["drop_token", nil, "1763712764120"]])
    }

    /// Lets APNs answer for a thousand device tokens at a time, of which a share is dead.
    ///
    /// - Parameter alive: What APNs says about the others.
    /// - Returns: How many dead device tokens a letter tells to drop, and how many to hold.
    private func answer(
        _ jobs: Int, dead share: Double, _ route: Route, _ random: inout SplitMix64,
        alive: APNSResponse = APNSResponse(status: 200)
    ) throws -> (dropped: Int, held: Int) {
        let tokens = repeatElement(#""aa""#, count: 1_000).joined(separator: ",")
        var (dropped, held) = (0, 0)
        for _ in 0..<jobs {
            let id = "job-\(route.devices.waiting.count)"
            let body = #"{"id":"\#(id)","device_tokens":[\#(tokens)],"payload":{"aps":{}}}"#
            var delivery = delivery(returns: 0, id: id, body: body)
            delivery.deliveryTag = UInt64(route.devices.waiting.count) + 1
            take(delivery, route)
            let job = try #require(route.devices.waiting.last)
            // The last one is left out: the letters wait for it.
            for index in 0..<999 {
                let isDead = Double.random(in: 0..<1, using: &random) < share
                let response =
                    isDead
                    ? APNSResponse(status: 410, reason: .unregistered, timestamp: Self.wallClock)
                    : alive
                route.settlement.settle(
                    try job.next(index), .response(response.answer), on: route.devices, response,
                    at: Self.moment(1))
            }
            for group in job.groups {
                guard case .deadLetter(let report) = group.purpose else { continue }
                switch report.action {
                case .hold: held += group.indexes.count
                case .dropToken: dropped += group.indexes.count
                default: break
                }
            }
        }
        return (dropped, held)
    }

    @Test("A route whose device tokens die slowly goes on dropping them, and holds them once all are dead")
    func drift() throws {
        var random = SplitMix64(seed: 11)
        let route = try route()
        for share in stride(from: 0.0, through: 0.5, by: 0.05) {
            let (dropped, held) = try answer(5, dead: share, route, &random)
            #expect(held * 100 <= dropped, "\(share)")
        }
        let (dropped, held) = try answer(10, dead: 1, route, &random)
        #expect(held > 9_800 && dropped < 150)
        // A new worker knows nothing, and lets no more than its first answers pass.
        let another = try self.route()
        #expect(try answer(10, dead: 1, another, &random).dropped < 2 * DeadTokenWatch.minimumAnswers)
    }

    @Test("Answers that refuse a push for another reason say nothing about device tokens, however many they are")
    func diluted() throws {
        var random = SplitMix64(seed: 12)
        let route = try route()
        let refused = APNSResponse(status: 400, reason: Reason(rawValue: "PayloadEmpty"))
        let (dropped, held) = try answer(10, dead: 0.25, route, &random, alive: refused)
        #expect(dropped < 2 * DeadTokenWatch.minimumAnswers && held > 2_000)
    }
}
