import APNSClient
import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("What an answer teaches a route about its credential", .timeLimit(.minutes(1)))
struct CredentialAnswerTests: RouteSuite {
    /// An answer, how often its notification was resent before, and what the breaker makes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String?
        let resends: Int
        let working: RouteBreaker.State
        let probing: RouteBreaker.State

        init(
            _ status: Int, _ reason: String?, resends: Int = 0, _ working: RouteBreaker.State,
            probing: RouteBreaker.State
        ) {
            self.status = status
            self.reason = reason
            self.resends = resends
            self.working = working
            self.probing = probing
        }

        var testDescription: String { "\(status) \(reason ?? "without a reason"), resent \(resends) times" }
    }

    private static let parked = RouteBreaker.State.parked(until: moment(6).monotonic)
    private static let parkedAgain = RouteBreaker.State.parked(until: moment(16).monotonic)

    @Test(
        "the table's verdict parks, proves, or says nothing, whether the route works or probes",
        arguments: [
            Row(403, "InvalidProviderToken", parked, probing: parkedAgain),
            Row(403, "Forbidden", parked, probing: parkedAgain),
            Row(429, "TooManyProviderTokenUpdates", parked, probing: parkedAgain),
            // What nobody has listed yet: the route asks again after a pause, and costs one job each time.
            Row(403, "SomethingNew", parked, probing: parkedAgain),
            Row(403, nil, parked, probing: parkedAgain),
            // A new connection may help.
            Row(403, "ExpiredProviderToken", .working, probing: .probing),
            Row(403, "ExpiredProviderToken", resends: 3, parked, probing: parkedAgain),
            Row(403, "UnrelatedKeyIdInToken", .working, probing: .probing),
            Row(403, "UnrelatedKeyIdInToken", resends: 3, parked, probing: parkedAgain),
            // Another notification may be taken.
            Row(403, "TopicMismatch", .working, probing: .probing),
            Row(403, "BadDeviceToken", .working, probing: .probing),
            Row(503, "Shutdown", .working, probing: .probing),
            Row(400, "SomethingNew", .working, probing: .working),
            Row(410, "Unregistered", .working, probing: .working),
            // A server in trouble, or a gateway, may not have looked at the credential.
            Row(500, nil, .working, probing: .probing),
            Row(429, nil, .working, probing: .probing),
            Row(200, nil, .working, probing: .working),
        ])
    func table(_ row: Row) throws {
        for isProbing in [false, true] {
            let route = try route()
            if isProbing {
                route.devices.credentialRefused(.connection("refused"), at: Self.moment(1))
                route.devices.breaker.tick(now: Self.moment(6).monotonic)
            }
            #expect(route.devices.breaker.state == (isProbing ? .probing : .working))
            route.credential.known = RouteCredential(name: "c")
            take(delivery(returns: 0), route)
            var notification = try #require(route.devices.next())
            notification.resends = row.resends
            let response = APNSResponse(status: row.status, reason: row.reason.map { Reason(rawValue: $0) })
            route.answered(
                route.devices.began(notification), .response(response), on: route.devices,
                at: Self.moment(isProbing ? 6 : 1))
            #expect(route.devices.breaker.state == (isProbing ? row.probing : row.working))
            // What operators read in `/readyz` names the reason, listed or not.
            let said = row.reason ?? "status \(row.status)"
            #expect(route.credential.known?.refusal == (route.devices.breaker.isParked ? said : nil))
        }
    }
}
