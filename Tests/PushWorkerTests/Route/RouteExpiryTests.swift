import EventLoop
import PushModel
import TestSupport
import Testing

@testable import APNSClient
@testable import PushWorker
@testable import RabbitMQ

@Suite("A stopped route and the jobs in its queues", .timeLimit(.minutes(1)))
struct RouteExpiryTests: RouteSuite {
    /// The time of a second, on both clocks.
    private static func at(_ seconds: UInt64) -> Moment {
        moment(seconds, wall: wallClock + Int64(seconds) * 1_000)
    }

    /// A route with a credential that cannot be used, since the first second.
    private func stoppedRoute(broadcastHosts: [Destination] = []) throws -> Route {
        let route = try route(broadcastHosts: broadcastHosts, credit: RouteCredit(fixed: 300, rate: nil))
        route.surroundings.publisher.confirmsSelected(1)
        route.credential.known = RouteCredential(name: "c", unusable: "gone.p8: not there")
        route.channel.connected()
        // The breaker sees in the next turn what this one learns of the credential.
        for _ in 0..<2 { follow(route, 1) }
        return route
    }

    /// A route that APNs refuses, which probes at second 82 next, and not since second 42.
    private func parkedRoute() throws -> Route {
        let route = try route(credit: RouteCredit(fixed: 300, rate: nil))
        route.surroundings.publisher.confirmsSelected(1)
        for second: UInt64 in [7, 12, 22, 42] {
            route.devices.breaker.tick(now: Self.at(second).monotonic)
            route.devices.credentialRefused(.connection("refused"), at: Self.at(second))
        }
        #expect(route.devices.breaker.probeAt == Self.at(82).monotonic)
        route.channel.connected()
        return route
    }

    /// Turns at a second, and what a broker answers to them.
    @discardableResult
    private func follow(_ route: Route, _ second: UInt64, _ condition: LaneCondition = LaneCondition())
        -> [RouteConsumer.Action]
    {
        var all: [RouteConsumer.Action] = []
        while true {
            let actions = route.turn(at: Self.at(second), condition)
            guard !actions.isEmpty else { return all }
            all += actions
            for action in actions { answer(action, route, at: Self.at(second)) }
        }
    }

    /// A job that is delivered; its deadline is some seconds after the beginning.
    private func deliver(_ tag: UInt64, deadline: Int64?, returns: Int = 0, to route: Route, at second: UInt64) {
        var headers = [("x-apns-v", "1")]
        if let deadline { headers.append(("x-apns-deadline", "\(Self.wallClock + deadline * 1_000)")) }
        let body = #"{"device_token":"aa11","payload":{"aps":{}}}"#
        var delivery = delivery(returns: returns, id: "job-\(tag)", headers: headers, body: body)
        delivery.deliveryTag = tag
        #expect(route.delivered(delivery, at: Self.at(second)))
    }

    /// How many copies were made for each tier; the broker takes none here.
    private func copies(_ route: Route) -> [Int] {
        var counts = [Int](repeating: 0, count: route.surroundings.policy.tiers.count)
        for publication in route.surroundings.publisher.unsent {
            if case .retry(let tier, _, _, _) = publication.content { counts[tier] += 1 }
        }
        return counts
    }

    private func expired(_ route: Route) -> Int {
        route.tally.counters.outcomes.refused.entries.reduce(0) { $0 + ($1.kind == .expired ? $1.count : 0) }
    }

    @Test(
        "it consumes nothing for ten seconds, then looks: what has expired is reported at once, the rest waits in tiers"
    )
    func sorts() throws {
        let route = try stoppedRoute()
        #expect(follow(route, 10).isEmpty && route.nextDue(after: Self.at(10)) == Self.at(11).monotonic)
        // As on every channel, the first delivery says whether something in the queue came back often.
        #expect(follow(route, 11) == [.openChannel, .setPrefetch(1), .startConsuming(queue: 0)])
        deliver(1, deadline: 5, to: route, at: 11)
        #expect(follow(route, 11) == [.cancelConsuming(queue: 0), .setPrefetch(100), .startConsuming(queue: 0)])
        #expect(expired(route) == 1 && route.devices.waiting.isEmpty)
        deliver(2, deadline: nil, to: route, at: 12)
        deliver(3, deadline: 60, to: route, at: 12)
        deliver(4, deadline: 15, to: route, at: 12)
        deliver(5, deadline: 11, to: route, at: 12)
        #expect(follow(route, 12).isEmpty && expired(route) == 2)
        #expect(route.devices.waiting.count == 3, "copies made now would let more of the queue in")
        #expect(route.nextDue(after: Self.at(12)) == Self.at(12).monotonic + Route.patrolInterval)
        // It gives nothing back, which would count.
        #expect(follow(route, 14) == [.cancelConsuming(queue: 0)])
        #expect(!route.deliveries.ledger.hasDebts)
        // The shortest tier takes two seconds, so that one of them stays until its time is over.
        #expect(copies(route) == [2, 0, 0, 0, 0] && route.devices.waiting.count == 1)
        follow(route, 15)
        #expect(expired(route) == 2)
        follow(route, 16)
        #expect(expired(route) == 3 && route.devices.waiting.isEmpty && !route.deliveries.ledger.hasDebts)
        var unchanged = 0
        route.deliveries.ledger.forEach { unchanged += $0.comesBackUnchanged ? 1 : 0 }
        #expect(unchanged == 2, "their attempt is the same")
    }

    @Test("the longer it stands still, the longer are the tiers, as far as deadlines allow")
    func tiers() throws {
        let route = try stoppedRoute()
        for second: UInt64 in [11, 1_000] { follow(route, second) }
        deliver(1, deadline: nil, to: route, at: 1_000)
        follow(route, 1_000)
        deliver(2, deadline: 1_100, to: route, at: 1_000)
        for second: UInt64 in [1_001, 1_004] { follow(route, second) }
        #expect(copies(route) == [0, 0, 1, 1, 0])
    }

    @Test("a fresh credential ends a look, and the next job shows whether it is accepted")
    func ends() throws {
        let route = try stoppedRoute()
        follow(route, 11)
        deliver(1, deadline: nil, to: route, at: 11)
        follow(route, 11)
        route.credential.offer(
            APNSCredential(name: "c", context: try ThrowawayCertificates().clientContext()), at: Self.at(12))
        // The consumers of a look stand behind those of all other workers, so that they are replaced.
        #expect(follow(route, 12) == [.cancelConsuming(queue: 0)])
        #expect(route.consumerArguments == FieldTable() && !route.expirySearch.look.isLooking)
        #expect(route.devices.breaker.state == .probing && route.devices.waiting.count == 1, "it is the next probe")
        #expect(copies(route) == [0, 0, 0, 0, 0] && !route.deliveries.ledger.hasDebts)
    }

    @Test("a parked route keeps one job for its probe, and its look ends before that")
    func probes() throws {
        let route = try parkedRoute()
        follow(route, 42)
        #expect(route.expirySearch.look.isLooking && route.consumerArguments != FieldTable())
        for tag: UInt64 in 1...3 { deliver(tag, deadline: tag == 1 ? 40 : nil, to: route, at: 43) }
        for second: UInt64 in [43, 44, 46, 47] { follow(route, second) }
        let kept = route.devices.waiting.map { String(decoding: $0.job.bytes[$0.job.jobID], as: UTF8.self) }
        #expect(expired(route) == 1 && kept == ["job-2"])
        #expect(copies(route).reduce(0, +) == 1 && !route.channel.consumer.mayReceive)
        follow(route, 76)
        #expect(!route.expirySearch.look.isLooking && route.devices.waiting.count == 1)
        follow(route, 82)
        #expect(route.devices.breaker.state == .probing && route.devices.waiting.count == 1)
        #expect(route.devices.allowance == 1 && !route.channel.consumer.mayReceive)
    }

    @Test("a job that came back often ends the looks, and goes back once")
    func suspects() throws {
        let route = try stoppedRoute()
        follow(route, 11)
        deliver(1, deadline: 5, returns: 4, to: route, at: 11)
        #expect(follow(route, 11) == [.cancelConsuming(queue: 0)])
        follow(route, 12)
        #expect(route.deliveries.ledger.nextDebt == .requeue(1) && expired(route) == 0)
        follow(route, 10_000)
        #expect(!route.channel.consumer.mayReceive && !route.expirySearch.look.isLooking)
    }

    @Test("a worker that leaves, and one whose results find no way out, look for nothing")
    func condition() throws {
        for condition in [LaneCondition(isDraining: true), LaneCondition(isHeldUp: true)] {
            let route = try stoppedRoute()
            for second: UInt64 in [11, 12, 100] { #expect(follow(route, second, condition).isEmpty) }
        }
        let route = try stoppedRoute()
        follow(route, 11)
        deliver(1, deadline: nil, to: route, at: 11)
        follow(route, 11)
        let leaving = LaneCondition(isDraining: true, isLeaving: true)
        for second: UInt64 in [12, 13] { follow(route, second, leaving) }
        #expect(route.deliveries.ledger.nextDebt == .requeue(1) && !route.channel.consumer.mayReceive)
    }

    @Test(
        "jobs about broadcast channels that a look brings wait in tiers, too, where their host is stopped by the credential"
    )
    func broadcastChannels() throws {
        let host = Destination(.broadcast)
        let route = try stoppedRoute(broadcastHosts: [host])
        follow(route, 11)
        let body = #"{"operation":"broadcast","channel_id":"dHN0LXNyY2gtY2hubA==","payload":{"aps":{}}}"#
        #expect(route.delivered(delivery(returns: 0, id: "job-1", body: body), at: Self.at(11)))
        for second: UInt64 in [11, 13, 14] { follow(route, second) }
        #expect(
            route.tally.counters.outcomes.refused.entries.isEmpty, "\(route.tally.counters.outcomes.refused.entries)")
        #expect(copies(route) == [1, 0, 0, 0, 0] && host.waiting.isEmpty && host.breaker.isHeld)
    }
}
