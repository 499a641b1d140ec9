import APNSClient
import EventLoop
import PushModel
import Testing

@testable import PushWorker

@Suite("A route whose pushes something else answers than APNs", .timeLimit(.minutes(1)))
struct RouteStrangerTests: RouteSuite {
    /// A route with a job for many device tokens.
    private func busyRoute() throws -> Route {
        let route = try route()
        let tokens = (0..<200).map { "\"aa\(10 + $0 % 90)\(100_000 + $0)\"" }.joined(separator: ",")
        let body = #"{"id":"job-1","device_tokens":[\#(tokens)],"payload":{"aps":{}}}"#
        take(delivery(returns: 0, body: body), route)
        return route
    }

    private func answer(_ response: APNSResponse, _ route: Route, at second: UInt64) throws {
        let notification = try #require(route.devices.next())
        route.answered(
            route.devices.began(notification), .response(response), on: route.devices, at: Self.moment(second))
    }

    @Test(
        "says which status it had, for a minute after the last one",
        arguments: [
            (APNSResponse(status: 302, speaker: .gateway), "status 302 of a gateway or proxy, not of APNs"),
            (
                APNSResponse(status: 200, speaker: .unknown),
                "status 200 without an apns-id, so it is not known who gave it"
            ),
            (
                APNSResponse(status: 201, speaker: .unknown),
                "status 201, which APNs does not give, so it is not known who gave it"
            ),
        ])
    func told(response: APNSResponse, words: String) throws {
        let route = try busyRoute()
        try answer(APNSResponse(status: 200), route, at: 1)
        #expect(route.report(at: Self.moment(1), isDraining: false).status.stranger == nil)
        try answer(response, route, at: 2)
        try answer(APNSResponse(status: 200), route, at: 3)
        let status = route.report(at: Self.moment(61), isDraining: false).status
        #expect(status.stranger == "an answer was \(words): what stands between the worker and APNs?")
        #expect(status.troubles.contains { $0 == status.stranger })
        #expect(route.report(at: Self.moment(62), isDraining: false).status.stranger == nil)
    }

    @Test("parks as it does in trouble of APNs, and its credential is not blamed")
    func parks() throws {
        let route = try busyRoute()
        for number in 0..<RouteBreaker.troubleLimit {
            #expect(!route.devices.breaker.isParked)
            let second: UInt64 = number < RouteBreaker.troubleLimit - 1 ? 1 : 6
            try answer(APNSResponse(status: 403, speaker: .gateway), route, at: second)
        }
        #expect(route.devices.breaker.isParked && route.devices.breaker.isTroubled)
        let report = route.report(at: Self.moment(6), isDraining: false).status
        #expect(report.troubles.first?.hasPrefix("an answer was status 403 of a gateway") == true)
        #expect(report.state == .parked)
    }
}
