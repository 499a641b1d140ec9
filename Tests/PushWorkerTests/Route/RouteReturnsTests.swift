import PushModel
import Testing

@testable import PushWorker

@Suite("How often a job came back, and who caused it", .timeLimit(.minutes(1)))
struct RouteReturnsTests: RouteSuite {
    @Test(
        "A delivery came back as often as its queue wrote, whatever its producer wrote",
        arguments: [
            // Before 4.3 a queue writes one count, and 4.3 writes two.
            (true, 5, nil, 5), (true, 5, 5, 5), (true, 2, 9, 2),
            // 4.3 leaves a producer's count as it is while its own is 0.
            (true, 30, 1, 1), (true, 30, 22, 22),
            // Nothing is the queue's where it delivers for the first time.
            (false, 30, nil, 0), (false, 30, 30, 0),
            (true, -1, nil, 0), (true, 7, -1, 0),
            (true, .max, nil, Int64(UInt32.max)), (true, .max, .max, Int64(UInt32.max)),
        ] as [(Bool, Int, Int?, Int64)])
    func counts(_ row: (isRedelivered: Bool, delivered: Int, acquired: Int?, returns: Int64)) {
        let delivery = delivery(returns: row.delivered, acquired: row.acquired, isRedelivered: row.isRedelivered)
        #expect(DeliveryReader.returns(of: delivery) == row.returns)
    }

    /// A job that a route gave back unsent as often as the queue lets it come back.
    private func givenBack(_ times: Int, id: String? = "job-1", by route: Route) throws {
        for returns in 0..<times {
            let seconds = UInt64(100 * (returns + 1))
            route.channel.opened(at: Self.moment(seconds))
            #expect(route.delivered(delivery(returns: returns, id: id), at: Self.moment(seconds)))
            #expect(!route.deliveries.intake.hasSuspects)
            let job = try #require(route.devices.takeUnsent { _ in true }.first)
            route.deliveries.giveBack(job, at: Self.moment(seconds))
            route.channel.closed(code: 200, text: "", at: Self.moment(seconds))
        }
        route.channel.opened(at: Self.moment(10_000))
    }

    @Test("A job that this worker gave back unsent is no suspect, however often; what others did with it since counts")
    func gaveBack() throws {
        let rows = [(45, false, false), (47, false, false), (48, true, false), (65, true, true)]
        for (returns, isSuspect, isRefused) in rows {
            let route = try route()
            try givenBack(45, by: route)
            #expect(route.delivered(delivery(returns: returns), at: Self.moment(10_000)))
            #expect(route.deliveries.intake.hasSuspects == (isSuspect && !isRefused), "\(returns)")
            #expect(route.outbox.refused.isEmpty == !isRefused, "\(returns)")
        }
        let route = try route()
        try givenBack(45, by: route)
        #expect(route.delivered(delivery(returns: 20, id: "another"), at: Self.moment(10_000)))
        #expect(route.outbox.refused.count == 1, "another job of the same length")
    }

    @Test(
        "A job without a message id that this worker gave back unsent is no suspect, either; another body is another job",
        arguments: [false, true])
    func gaveBackWithoutID(isAnother: Bool) throws {
        let route = try route()
        try givenBack(45, id: nil, by: route)
        let other = #"{"id":"other","device_tokens":["aa11"],"payload":{"aps":{}}}"#
        let delivery = isAnother ? delivery(returns: 45, id: nil, body: other) : delivery(returns: 45, id: nil)
        #expect(route.delivered(delivery, at: Self.moment(10_000)))
        #expect(!route.deliveries.intake.hasSuspects && route.outbox.refused.isEmpty == !isAnother)
    }

    @Test("Of the jobs that were given back the last ones are remembered")
    func givenBackLimit() {
        var jobs = GivenBackJobs(limit: 2)
        for (mark, returns) in [(1, 3), (2, 0), (1, 1), (3, 5)] as [(UInt64, Int64)] {
            jobs.note(mark, returns: returns)
        }
        #expect([1, 2, 3].map { jobs.returns(of: $0) } == [0, 1, 6])
    }

    @Test("A job that came back too often can be replayed, and the detail says both causes")
    func poisonReport() throws {
        let route = try route()
        take(delivery(returns: 20), route)
        let report = try #require(unsettled(route).first?.refusal)
        #expect(report.outcome == .exhausted && report.action == .replay && report.reason == .poison)
        #expect(report.detail?.contains("died") == true && report.detail?.contains("given back") == true)
    }
}
