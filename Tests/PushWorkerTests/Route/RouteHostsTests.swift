import Testing

@testable import PushWorker

@Suite("The hosts of a route", .timeLimit(.minutes(1)))
struct RouteHostsTests: RouteSuite {
    private static let rows: [(kind: Destination.Kind, body: String)] = [
        (.devices, #"{"device_token":"aa11","payload":{"aps":{}}}"#),
        (.broadcast, #"{"operation":"broadcast","channel_id":"dHN0LXNyY2gtY2hubA==","payload":{"aps":{}}}"#),
        (.management, #"{"operation":"list_channels"}"#),
    ]

    /// All hosts that a configuration can name.
    private static func hosts() -> RouteHosts {
        RouteHosts(Destination(.devices), broadcastChannels: [Destination(.broadcast), Destination(.management)])
    }

    /// A job that was taken in.
    private func job(_ body: String) throws -> JobInFlight {
        let route = try route(broadcastHosts: Self.hosts().broadcastChannels)
        take(delivery(returns: 0, body: body), route)
        let job = try #require(unsettled(route).first)
        #expect(job.refusal == nil)
        return job
    }

    @Test("a job waits for the host that its operation asks something of")
    func takes() throws {
        for row in Self.rows {
            let hosts = Self.hosts()
            #expect(hosts.areQuiet && hosts.areStill && !hosts.wantToSend)
            let isTaken = hosts.take(try job(row.body))
            #expect(isTaken && hosts.all.filter(\.hasWaiting).map(\.kind) == [row.kind])
            #expect(!hosts.areQuiet && hosts.wantToSend && hosts.hasBroadcastWork == (row.kind != .devices))
        }
    }

    @Test("a job whose host the configuration does not name is not taken")
    func unnamed() throws {
        for row in Self.rows where row.kind != .devices {
            let hosts = RouteHosts(Destination(.devices), broadcastChannels: [])
            let job = try job(row.body)
            let (isTaken, isResumed) = (hosts.take(job), hosts.resume(job))
            #expect(!isTaken && !isResumed && hosts.areQuiet && !hosts.hasBroadcastWork)
        }
    }

    @Test("a job is dropped where it waits, and its host sleeps once it was looked at")
    func drops() throws {
        for row in Self.rows {
            let hosts = Self.hosts()
            let (job, other) = (try job(row.body), try job(row.body))
            for job in [job, other] { _ = hosts.take(job) }
            #expect(hosts[row.kind]?.waiting.count == 2)
            hosts.generationEnded()
            #expect(hosts.areQuiet && !hosts.wantToSend)
            hosts.advanced()
            #expect(!hosts.hasBroadcastWork)
        }
    }
}
