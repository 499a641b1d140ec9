import APNSClient
import EventLoop
import PushModel
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("A route that operators hold", .timeLimit(.minutes(1)))
struct RouteControlTests: RouteSuite {
    private static func command(
        _ action: ControlCommand.Action, _ target: ControlCommand.Target, until: Int64? = nil, reason: String? = nil,
        leavesDeadLetters: Bool = false
    ) -> ControlCommand {
        ControlCommand(
            id: "1", action: action, target: target, author: "anna", issuedAt: 0, until: until, reason: reason,
            leavesDeadLetters: leavesDeadLetters)
    }

    private static let paused = RouteControl(pause: command(.pause, .route("app"), reason: "too loud"))

    /// Lets the route do all that it wants, with a broker that answers at once.
    ///
    /// - Returns: What the route asked for.
    @discardableResult
    private func settle(_ route: Route, at seconds: UInt64) -> [RouteConsumer.Action] {
        var all: [RouteConsumer.Action] = []
        while true {
            let actions = route.turn(at: Self.moment(seconds), LaneCondition())
            guard !actions.isEmpty else { return all }
            for action in actions { answer(action, route, at: Self.moment(seconds)) }
            all += actions
        }
    }

    private func consuming() throws -> Route {
        let route = try route(credit: RouteCredit(fixed: 50, rate: nil))
        route.channel.connected()
        settle(route, at: 1)
        return route
    }

    private func status(_ route: Route) -> LaneStatus.Route {
        route.report(at: Self.moment(5), isDraining: false).status
    }

    @Test("Of its own rate and its part of the rate for all workers the lower one holds")
    func rates() throws {
        let route = try route()
        let (own, fast, slow) = (SendingRate(perSecond: 50), SendingRate(perSecond: 80), SendingRate(perSecond: 20))
        #expect(route.limitForFleet(to: fast) && route.rates.current === fast)
        #expect(!route.limitForFleet(to: fast), "no news")
        route.limit(to: own)
        #expect(route.rates.current === own)
        #expect(route.limitForFleet(to: slow) && route.rates.current === slow)
        route.limit(to: nil)
        #expect(route.rates.current === slow)
        #expect(route.limitForFleet(to: nil) && route.rates.current == nil)
    }

    @Test("A paused route gives back what it did not send, and takes jobs again when it is resumed")
    func pause() throws {
        let route = try consuming()
        #expect(route.delivered(delivery(returns: 0), at: Self.moment(1)))
        #expect(route.follow(Self.paused))
        #expect(!route.follow(Self.paused), "no news")
        #expect(route.turn(at: Self.moment(2), LaneCondition()) == [.cancelConsuming(queue: 0)])
        #expect(route.devices.hasWaiting, "it would come straight back")
        answer(.cancelConsuming(queue: 0), route, at: Self.moment(2))
        #expect(route.turn(at: Self.moment(2), LaneCondition()) == [])
        #expect(!route.devices.hasWaiting && route.deliveries.ledger.nextDebt == .requeue(1))
        #expect(route.tally.counters.jobsHandedBack == 1)
        #expect(status(route).state == .paused && status(route).troubles.first == "paused by anna: too loud")
        #expect(!status(route).isConsuming)
        let payment = route.settleDeliveries(at: Self.moment(2), isDraining: false) { _ in true }
        #expect(payment.sent == 1 && route.isDrained)
        for second in 3...600 { #expect(route.turn(at: Self.moment(UInt64(second)), LaneCondition()) == []) }
        #expect(route.follow(RouteControl()))
        #expect(settle(route, at: 601).last == .startConsuming(queue: 0))
        #expect(status(route).state == .ready && status(route).troubles == [] && status(route).isConsuming)
    }

    @Test(
        "With a part of a rate for all workers, what was not sent goes back at once when the worker drains or others serve",
        arguments: [true, false])
    func leavesItsPart(isDraining: Bool) throws {
        let route = try consuming()
        route.limitForFleet(to: SendingRate(perSecond: 1, fillingFrom: Self.moment(900).monotonic))
        #expect(route.delivered(delivery(returns: 0), at: Self.moment(1)))
        if !isDraining { route.serve(false) }
        let condition = LaneCondition(isDraining: isDraining)
        #expect(route.turn(at: Self.moment(2), condition) == [.cancelConsuming(queue: 0)])
        answer(.cancelConsuming(queue: 0), route, at: Self.moment(2))
        #expect(route.turn(at: Self.moment(2), condition) == [])
        #expect(!route.devices.hasWaiting && route.deliveries.ledger.nextDebt == .requeue(1))
    }

    @Test("With a much lower rate, what would wait for too long goes back once, and jobs are taken again")
    func lowered() throws {
        let route = try route(credit: RouteCredit(fixed: nil, rate: nil))
        route.channel.connected()
        settle(route, at: 1)
        for tag in 1...2 {
            var delivery = delivery(returns: 0)
            delivery.deliveryTag = UInt64(tag)
            #expect(route.delivered(delivery, at: Self.moment(1)))
        }
        for rate in [0.01, 0.02] {
            route.limit(to: SendingRate(perSecond: rate))
            settle(route, at: 2)
            #expect(route.devices.waiting.count == 2, "four notifications take 400 s at most")
        }
        route.limit(to: SendingRate(perSecond: 0.001))
        #expect(settle(route, at: 3) == [.cancelConsuming(queue: 0)])
        #expect(!route.devices.hasWaiting && route.tally.counters.jobsHandedBack == 2)
        #expect(route.settleDeliveries(at: Self.moment(3), isDraining: false) { _ in true }.sent == 2)
        #expect(settle(route, at: 4).last == .startConsuming(queue: 0))
    }

    @Test("A route opens no channel before it is known what operators want")
    func awaited() throws {
        let route = try route()
        route.follow(RouteControl(isAwaited: true))
        route.channel.connected()
        #expect(settle(route, at: 1) == [])
        #expect(status(route).state == .starting)
        route.follow(Self.paused)
        #expect(settle(route, at: 2) == [])
        route.follow(RouteControl())
        #expect(settle(route, at: 3).contains(.startConsuming(queue: 0)))
    }

    @Test("The rest of a multicast job that was begun goes into a tier, and comes back to the queue from there")
    func begun() throws {
        let route = try consuming()
        #expect(route.delivered(delivery(returns: 0), at: Self.moment(1)))
        let job = try #require(route.devices.waiting.first)
        let first = try #require(route.devices.next())
        let tag = route.devices.began(first)
        route.follow(Self.paused)
        settle(route, at: 2)
        #expect(!route.devices.hasWaiting && job.unsettled == 1)
        #expect(job.groups.map(\.purpose) == [.retry(tier: 0, attempt: 1, wasAttempted: false)])
        #expect(job.groups.map(\.indexes) == [[1]])
        // The answer of what was sent is settled as usual.
        route.answered(tag, .response(APNSResponse(status: 200)), on: route.devices, at: Self.moment(3))
        #expect(job.unsettled == 0 && route.tally.counters.outcomes.accepted == 1 && route.outbox.underWay == 2)
    }

    @Test("What was sent and is to be sent again waits in a tier as well")
    func resent() throws {
        let route = try consuming()
        let body = #"{"id":"job-1","device_tokens":["aa11","bb22"],"payload":{"aps":{}}}"#
        #expect(route.delivered(delivery(returns: 0, body: body), at: Self.moment(1)))
        let tags = [try #require(route.devices.next()), try #require(route.devices.next())].map(route.devices.began)
        route.follow(Self.paused)
        settle(route, at: 2)
        for tag in tags { route.answered(tag, .unprocessed, on: route.devices, at: Self.moment(3)) }
        #expect(route.devices.hasWaiting)
        settle(route, at: 3)
        #expect(!route.devices.hasWaiting && route.isQuiet)
    }

    // MARK: Campaigns

    /// What becomes of a job with a reference that is about to be sent.
    ///
    /// - Returns: Its route, and whether it is settled without being sent.
    private func offer(
        _ campaigns: [ControlCommand], reference: String? = "c-7/1", more: String = ""
    ) throws -> (route: Route, isSettled: Bool) {
        let route = try consuming()
        route.follow(RouteControl(campaigns: CampaignIndex(campaigns)))
        let named = reference.map { #","reference":"\#($0)""# } ?? ""
        let body = #"{"id":"job-1","device_token":"aa11","payload":{"aps":{}}\#(named)\#(more)}"#
        #expect(route.delivered(delivery(returns: 0, body: body), at: Self.moment(1)))
        let notification = try #require(route.devices.next())
        let isSettled = isSettledUnsent(notification, route, at: Self.moment(1))
        return (route, isSettled)
    }

    @Test("A notification of a cancelled campaign gets its result, and a dead letter where that is asked for")
    func cancelled() throws {
        for leavesDeadLetters in [false, true] {
            let cancel = Self.command(.cancel, .campaign("c-7/"), leavesDeadLetters: leavesDeadLetters)
            let (route, isSettled) = try offer([cancel])
            #expect(isSettled && route.tally.counters.outcomes.count(of: .cancelled) == 1)
            #expect(route.outbox.underWay == (leavesDeadLetters ? 2 : 1))
            #expect(route.isQuiet)
        }
    }

    @Test("Jobs of other campaigns, and of none, are not touched")
    func others() throws {
        let cancel = Self.command(.cancel, .campaign("c-7/"))
        for reference in ["c-70/1", "c-7", nil] as [String?] {
            let (route, isSettled) = try offer([cancel], reference: reference)
            #expect(!isSettled && route.outbox.underWay == 0, "\(reference ?? "-")")
        }
    }

    @Test("A notification of a paused campaign waits in a tier, and costs no attempt")
    func pausedCampaign() throws {
        let (route, isSettled) = try offer([Self.command(.pause, .campaign("c-7/"), until: Self.wallClock + 70_000)])
        #expect(isSettled && route.tally.counters.paused == 1 && route.outbox.underWay == 1)
        #expect(route.tally.counters.outcomes.count(of: .expired) == 0)
        let deadline = Self.wallClock + 1_000
        let pause = Self.command(.pause, .campaign("c-7/"))
        let late = try offer([pause], more: #","deadline":\#(deadline)"#).route
        #expect(late.tally.counters.outcomes.count(of: .expired) == 1, "no tier brings it back in time")
    }

    @Test("What was sent already is settled as usual")
    func sentBefore() throws {
        let route = try consuming()
        route.follow(RouteControl(campaigns: CampaignIndex([Self.command(.cancel, .campaign(""))])))
        let body = #"{"id":"job-1","device_token":"aa11","payload":{"aps":{}},"reference":"c-7/1"}"#
        #expect(route.delivered(delivery(returns: 0, body: body), at: Self.moment(1)))
        var notification = try #require(route.devices.next())
        notification.refusals = 1
        #expect(!isSettledUnsent(notification, route, at: Self.moment(1)))
    }

    // MARK: Trust

    @Test("An operator's word ends the hold until the tokens look as usual, and counts once")
    func trust() throws {
        let route = try route()
        let dead = route.deadTokens
        func learn(dead count: Int) { for _ in 0..<count { dead.learn(live: 0, isDeadToken: true, inFlight: 0) } }
        learn(dead: 200)
        #expect(dead.isSuspicious)
        route.follow(RouteControl(trust: "a"))
        #expect(!dead.isSuspicious)
        learn(dead: 10_000)
        #expect(!dead.isSuspicious, "as long as the route behaves so")
        dead.learn(live: 200, inFlight: 0)
        learn(dead: 200)
        #expect(dead.isSuspicious, "something else is going on")
        route.follow(Self.paused)
        route.follow(RouteControl(trust: "a"))
        #expect(dead.isSuspicious, "the stream was read again")
        route.follow(RouteControl(trust: "b"))
        #expect(!dead.isSuspicious)
    }

    @Test("A command that a worker reads before it has any answer means nothing to it")
    func oldTrust() throws {
        let route = try route()
        let dead = route.deadTokens
        route.follow(RouteControl(trust: "a"))
        for _ in 0..<200 { dead.learn(live: 0, isDeadToken: true, inFlight: 0) }
        #expect(dead.isSuspicious)
    }

    @Test("A route begins where other workers are, and a command that they have heard means nothing new to it")
    func begunAsOthers() throws {
        let route = try route()
        let dead = route.deadTokens
        let held = DeadTokenKnowledge(answers: 64, latest: 1, usual: 0, holds: true)
        dead.begin(from: held, trust: "a")
        route.follow(RouteControl(trust: "a"))
        #expect(dead.isSuspicious)
        route.follow(RouteControl(trust: "b"))
        #expect(!dead.isSuspicious, "news")
        dead.begin(from: held, trust: nil)
        #expect(!dead.isSuspicious, "it has begun")
    }
}
