import EventLoop
import PushModel
import Testing
import Topology

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route does with a job whose time has not come", .timeLimit(.minutes(1)))
struct RouteHoldingTests: RouteSuite {
    /// Writes copies for every tier of the default configuration.
    private var renderer: PublicationRenderer {
        PublicationRenderer(
            tiers: RetryTier.all(of: RetryPolicy()).map(\.name), routes: ["app"], worker: "worker-1",
            includesDeviceToken: false)
    }

    /// A copy that the route published.
    private struct Copy: Equatable {
        var tier: Int
        var attempt = 1
        var indexes: [Int]?
        var wasAttempted = false
    }

    /// A job for one device whose time is some milliseconds away.
    private func single(_ remaining: Int64, more: String = "", headers: [(String, String)] = []) -> Delivery {
        let time = Self.wallClock + remaining
        return delivery(
            returns: 0, headers: headers,
            body: #"{"device_token":"aa11","not_before":\#(time)\#(more),"payload":{"aps":{}}}"#)
    }

    /// A route whose channel is open, so that copies go out at once.
    private func openRoute(rate: SendingRate? = nil) throws -> Route {
        let route = try route(rate: rate)
        route.channel.connected()
        for action in route.turn(at: Self.moment(1), LaneCondition()) { answer(action, route, at: Self.moment(1)) }
        try #require(route.deliveries.ledger.isOpen)
        return route
    }

    /// The copies that wait to be published.
    private func copies(_ route: Route) -> [Copy] {
        route.surroundings.publisher.unsent.compactMap { publication in
            guard case .retry(let tier, let attempt, let indexes, let wasAttempted) = publication.content else {
                return nil
            }
            return Copy(tier: tier, attempt: attempt, indexes: indexes, wasAttempted: wasAttempted)
        }
    }

    @Test(
        "It goes into the longest tier that brings it back in time, its attempt unchanged and no age begun",
        arguments: [(86_400_000, 11), (4_000_000, 10), (59_999, 6), (700, 5)] as [(Int64, Int)])
    func held(_ remaining: Int64, _ tier: Int) throws {
        let route = try openRoute()
        take(single(remaining), route)
        #expect(copies(route) == [Copy(tier: tier)])
        #expect(route.devices.waiting.isEmpty && route.tally.counters.held == 1)
        let publication = try #require(route.surroundings.publisher.unsent.first)
        route.published(publication, .confirmed, at: Self.moment(1))
        #expect(
            route.tally.counters.retryCopies[tier] == 1 && route.tally.counters.retries[tier] == 0, "it is not a retry")
        var ledger = route.deliveries.ledger
        let settled = ledger.decide(at: Self.moment(1), flush: true)
        #expect(settled == 1, "its delivery is settled")
    }

    @Test("A job of a cancelled campaign does not wait for its time: the cancellation may be over by then")
    func cancelled() throws {
        let cancel = ControlCommand(
            id: "1", action: .cancel, target: .campaign("c-7/"), author: "anna", issuedAt: 0,
            until: Self.wallClock + 1_000)
        let named = #","reference":"c-7/1""#
        let route = try openRoute()
        route.follow(RouteControl(campaigns: CampaignIndex([cancel])))
        take(single(86_400_000, more: named), route)
        #expect(copies(route).isEmpty && route.tally.counters.held == 0 && !route.arrivals.isSendingOn)
        let notification = try #require(route.devices.next())
        #expect(isSettledUnsent(notification, route, at: Self.moment(1)))
        #expect(route.tally.counters.outcomes.count(of: .cancelled) == 1 && route.outbox.underWay == 1)
        // The cancellation is over before the results could go out.
        let late = try openRoute()
        late.follow(RouteControl(campaigns: CampaignIndex([cancel])))
        take(single(86_400_000, more: named), late)
        let waiting = try #require(late.devices.next())
        let after = Self.moment(3, wall: Self.wallClock + 2_000)
        #expect(isSettledUnsent(waiting, late, at: after) && copies(late).count == 1)
        // A campaign that is paused only holds back what is due.
        let other = try openRoute()
        var pause = cancel
        pause.action = .pause
        other.follow(RouteControl(campaigns: CampaignIndex([pause])))
        take(single(86_400_000, more: named), other)
        #expect(copies(other).map(\.tier) == [11] && other.tally.counters.held == 1)
    }

    @Test("A job whose time has come is sent, and its age counts from then")
    func due() throws {
        let route = try openRoute()
        let enqueued = [("x-apns-enqueued-at", "\(Self.wallClock - 60_000)")]
        take(single(-1_500, headers: enqueued), route)
        #expect(route.devices.waiting.count == 1 && copies(route).isEmpty && route.tally.counters.held == 0)
        #expect(route.tally.counters.queueAge.count == 1)
        #expect(route.devices.waiting.first?.job.queueMilliseconds(at: Self.wallClock) == 1_500)
    }

    @Test("An early delivery is not a measure of how long jobs wait")
    func age() throws {
        let route = try openRoute()
        take(single(9_000, headers: [("x-apns-enqueued-at", "\(Self.wallClock - 60_000)")]), route)
        #expect(route.tally.counters.queueAge.count == 0)
    }

    @Test("A multicast job waits as one copy, of the positions that its message is about")
    func multicast() throws {
        let time = Self.wallClock + 9_000
        let body = #"{"device_tokens":["aa11","bb22","zz"],"not_before":\#(time),"payload":{"aps":{}}}"#
        for (headers, indexes) in [([], nil), ([("x-apns-indexes", "0,2")], [0, 2])] as [([(String, String)], [Int]?)] {
            let route = try openRoute()
            take(delivery(returns: 0, headers: headers, body: body), route)
            #expect(copies(route).map(\.indexes) == [indexes])
            #expect(route.tally.counters.held == (indexes?.count ?? 3))
        }
    }

    @Test("The copy names the time in a header of its own, beside the producer's headers, also where it is shortened")
    func header() throws {
        let time = Self.wallClock + 9_000
        for shortened in [false, true] {
            let route = try openRoute()
            let body = #"{"device_token":"aa11","payload":{"aps":{}}}"#
            let headers = [("x-apns-not-before", "\(time)"), ("mine", "1")]
            take(delivery(returns: 0, headers: headers, body: body), route)
            let publication = try #require(route.surroundings.publisher.unsent.first)
            var message = OutgoingMessage()
            renderer.render(publication, into: &message, shortened: shortened)
            let written = message.headers.filter { text($0.name, in: message) == "x-apns-not-before" }
            #expect(written.map { Int64(bitPattern: $0.bits) } == [time])
            #expect(header("mine", in: message) == "1")
            #expect(header("x-apns-first-attempt-at", in: message) == nil)
            #expect(text(message.exchange, in: message) == "apns.retry.hold.2s")
        }
    }

    @Test("A parked route, without a connection and beyond its rate, sends it on all the same")
    func parked() throws {
        let rate = SendingRate(perSecond: 1)
        let route = try openRoute(rate: rate)
        route.devices.credentialRefused(.connection("refused"), at: Self.moment(1))
        #expect(route.devices.breaker.intake == .none)
        take(single(9_000), route)
        #expect(copies(route).map(\.tier) == [5])
        #expect(!route.devices.hasWaiting)
    }

    @Test("A job whose expiration is 0 waits for its time, although no retry of it does")
    func once() throws {
        let route = try openRoute()
        take(single(9_000, more: #","expiration":0"#), route)
        #expect(copies(route).map(\.tier) == [5])
    }

    @Test("What waits for a request when the clock is set back waits in a tier again, and then comes in time")
    func setBack() throws {
        let route = try openRoute()
        take(single(-10), route)
        let notification = try #require(route.devices.next())
        let back = Self.moment(2, wall: Self.wallClock - 3_700_000)
        #expect(isSettledUnsent(notification, route, at: back))
        #expect(copies(route).map(\.tier) == [10] && route.tally.counters.held == 1)
    }

    @Test("A copy that comes back early waits on, and the second of two copies is as good as the first")
    func again() throws {
        let route = try openRoute()
        let copy = [("x-apns-v", "1")]
        take(single(40_000, headers: copy), route)
        #expect(copies(route).map(\.tier) == [6])
        // The first one is on its way again. Only a settled job makes its second copy superfluous.
        var second = single(40_000, headers: copy + [("x-apns-duplicate", "possible")])
        second.deliveryTag = 2
        take(second, route)
        #expect(copies(route).map(\.tier) == [6, 6])
        #expect(route.tally.counters.duplicatesSuppressed == 0)
    }

    @Test("Where the broker lacks holding tiers, it waits in a retry tier, and they are tried again in an hour")
    func missing() throws {
        let route = try openRoute()
        for tier in 5..<12 { route.surroundings.publisher.missing.note(tier, now: MonotonicTime(nanoseconds: 0)) }
        take(single(86_400_000), route)
        #expect(copies(route).map(\.tier) == [4])
        var missing = MissingTiers(RetryPolicy())
        missing.note(5, now: MonotonicTime(nanoseconds: 0))
        missing.passTime(now: MonotonicTime(nanoseconds: 0) + .seconds(3_599))
        #expect(missing.positions == [5])
        missing.passTime(now: MonotonicTime(nanoseconds: 0) + .seconds(3_600))
        #expect(missing.positions == [])
    }

    @Test("Where its holding tier is full, it alone ends as exhausted: a result, a letter to replay, and no copy")
    func full() throws {
        let route = try openRoute()
        take(single(86_400_000), route)
        let copy = try #require(route.surroundings.publisher.unsent.first)
        route.published(copy, .refused, at: Self.moment(1))
        #expect(route.tally.counters.outcomes.count(of: .exhausted) == 1)
        #expect(route.tally.counters.retryCopies.allSatisfy { $0 == 0 })
        let (result, letter) = try ended(route)
        for report in [result, letter] {
            #expect(report.outcome == .exhausted && report.reason == .heldFull && report.action == .replay)
            #expect(report.detail?.contains("apns.q.retry.hold.6h") == true, "\(report.detail ?? "")")
            #expect(report.detail?.contains("retry.holding_limit") == true)
        }
    }

    @Test("A multicast job that finds its holding tier full ends with each of the positions that its message is about")
    func fullForMany() throws {
        let time = Self.wallClock + 9_000
        let body = #"{"device_tokens":["aa11","bb22","cc33"],"not_before":\#(time),"payload":{"aps":{}}}"#
        let route = try openRoute()
        take(delivery(returns: 0, headers: [("x-apns-indexes", "0,2")], body: body), route)
        let copy = try #require(route.surroundings.publisher.unsent.first)
        route.published(copy, .refused, at: Self.moment(1))
        #expect(route.tally.counters.outcomes.count(of: .exhausted) == 2)
    }

    @Test("A job of a paused campaign waits in a holding tier, for its producer may send as many as it likes")
    func pausedCampaign() throws {
        let pause = ControlCommand(
            id: "1", action: .pause, target: .campaign("c-7/"), author: "anna", issuedAt: 0,
            until: Self.wallClock + 60_000)
        let route = try openRoute()
        route.follow(RouteControl(campaigns: CampaignIndex([pause])))
        take(single(-10, more: #","reference":"c-7/1""#), route)
        let notification = try #require(route.devices.next())
        #expect(isSettledUnsent(notification, route, at: Self.moment(1)))
        #expect(copies(route).map(\.tier) == [7] && route.tally.counters.paused == 1)
    }

    /// The reports of the result and of the dead letter that a route published.
    private func ended(_ route: Route) throws -> (result: FinalReport, letter: FinalReport) {
        var (result, letter): (FinalReport?, FinalReport?)
        for publication in route.surroundings.publisher.unsent {
            if case .result(_, let content) = publication.content { result = content.report }
            if case .deadLetter(let report, _, _) = publication.content { letter = report }
        }
        return (try #require(result), try #require(letter))
    }
}
