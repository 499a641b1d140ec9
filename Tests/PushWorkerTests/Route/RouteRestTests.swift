import EventLoop
import PushModel
import RabbitMQ
import TestSupport
import Testing

@testable import APNSClient
@testable import PushWorker

/// A route whose pools never connect, and are told that they did.
@Suite("A route that pushes nothing for a while", .timeLimit(.minutes(1)))
struct RouteRestTests: RouteSuite {
    private final class Deaf: APNSPoolDelegate {
        func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {}
        func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {}
        func poolCapacityChanged(_ pool: APNSPool) {}
    }

    private static let rest = Duration.seconds(100)
    private let certificates: ThrowawayCertificates
    private let delegate = Deaf()
    private let loop: EventLoop

    init() throws {
        certificates = try ThrowawayCertificates()
        loop = try EventLoop()
    }

    private func credential(_ version: Int) throws -> APNSCredential {
        APNSCredential(name: "c", version: version, context: try certificates.clientContext())
    }

    /// A route that consumes with a prefetch of 50 and has a connection that rests since the second second.
    private func connectedRoute() throws -> Route {
        let endpoint = APNSEndpoint(host: "localhost", port: 1)
        let connector = APNSConnector(
            endpoint: endpoint, trust: try certificates.clientContext(), limiter: ConnectRateLimiter())
        let first = try credential(1)
        let route = try route(
            credit: RouteCredit(fixed: 50, rate: nil),
            devices: Destination(.devices, connector: connector, idleTime: Self.rest)
        ) { [loop, delegate] route, destination in
            let pool = APNSPool(
                configuration: APNSPoolConfiguration(requestTimeout: .seconds(1), connections: 1), loop: loop,
                endpoint: endpoint, credential: route.credential.present ?? first, delegate: delegate)
            destination.open(pool, events: delegate)
        }
        route.surroundings.publisher.confirmsSelected(1)
        route.credential.known = RouteCredential(name: "c", newest: first)
        route.channel.connected()
        for _ in 0..<3 { follow(route, at: 1) }
        #expect(route.channel.consumer.currentPrefetch == 1 && route.devices.pool == nil)
        try push(route, at: 2)
        for second: UInt64 in 3..<10 { follow(route, at: second) }
        #expect(route.channel.consumer.currentPrefetch == 50 && route.channel.consumer.isConsuming)
        return route
    }

    /// A job opens the connections, and is accepted.
    private func push(_ route: Route, at seconds: UInt64) throws {
        take(delivery(returns: 0), route, at: seconds)
        follow(route, at: seconds)
        let pool = try #require(route.devices.pool)
        pool.isConnected = true
        route.devices.capacityChanged(at: Self.moment(seconds))
        while let notification = route.devices.next() {
            let tag = route.devices.began(notification)
            let answer = PushAnswer.response(APNSResponse(status: 200, reason: nil))
            route.answered(tag, answer, on: route.devices, at: Self.moment(seconds))
        }
        follow(route, at: seconds)
    }

    /// A new channel, on which the first delivery is the first again.
    private func openChannel(of route: Route, at seconds: UInt64) {
        route.channel.closed(code: 320, text: "", at: Self.moment(seconds - 100))
        for second in seconds - 10...seconds { follow(route, at: second) }
        #expect(route.channel.consumer.isConsuming)
    }

    /// A turn, and what a broker answers to it.
    @discardableResult
    private func follow(_ route: Route, at seconds: UInt64) -> [RouteConsumer.Action] {
        let moment = Self.moment(seconds)
        let actions = route.turn(at: moment, LaneCondition())
        for action in actions { answer(action, route, at: moment) }
        return actions
    }

    @Test("it closes its connections when its rest is over, is ready, and asks for one job; the next job opens them")
    func closes() throws {
        let route = try connectedRoute()
        let pool = try #require(route.devices.pool)
        #expect(route.nextDue(after: Self.moment(10)) == Self.moment(102).monotonic)
        #expect(follow(route, at: 101).isEmpty && route.devices.pool === pool)
        #expect(follow(route, at: 102) == [.cancelConsuming(queue: 0)])
        #expect(route.devices.pool == nil && route.channel.consumer.wantedPrefetch == 1)
        let breaker = route.devices.breaker
        #expect(breaker.intake == .full && breaker.isReachable && !breaker.wasConnected && breaker.nextTick == nil)
        #expect(follow(route, at: 102) == [.setPrefetch(1)])
        #expect(follow(route, at: 102) == [.startConsuming(queue: 0)])
        let status = route.report(at: Self.moment(102), isDraining: false).status
        #expect(status.state == .ready && status.connections == 0 && status.troubles.isEmpty)
        #expect(status.credentialVersion == 1)
        #expect(route.devices.nextDue == nil)
        // No outage follows, however long it lasts.
        follow(route, at: 1_000)
        #expect(route.devices.breaker.intake == .full && route.channel.consumer.wantedPrefetch == 1)
        openChannel(of: route, at: 2_000)
        try push(route, at: 2_000)
        #expect(route.devices.pool != nil && route.devices.pool !== pool)
        #expect(route.devices.breaker.intake == .full && route.devices.breaker.wasConnected)
    }

    @Test("it keeps them while a credential is proved, while it is parked or probes, and while none is there")
    func keeps() throws {
        let cases: [(name: String, begin: (Route, APNSPool) throws -> Void, end: (Route, APNSPool) -> Void)] = [
            (
                "proved", { $1.offer(try credential(2), now: Self.moment(50).monotonic) },
                { $1.judged(2, .accepted, now: Self.moment(300).monotonic) }
            ),
            (
                "parked and probing",
                {
                    $0.devices.credentialRefused(.connection("refused"), at: Self.moment(50)); _ = $1
                },
                {
                    $0.devices.breaker.credentialAccepted(); _ = $1
                }
            ),
            (
                "not there",
                {
                    $1.isConnected = nil; _ = $0
                },
                {
                    $1.isConnected = true
                    $0.devices.capacityChanged(at: Self.moment(300))
                }
            ),
        ]
        for one in cases {
            let route = try connectedRoute()
            let pool = try #require(route.devices.pool)
            try one.begin(route, pool)
            for second: UInt64 in [50, 111, 211, 299] { follow(route, at: second) }
            #expect(route.devices.pool === pool, "\(one.name)")
            one.end(route, pool)
            follow(route, at: 300)
            follow(route, at: 399)
            #expect(route.devices.pool === pool, "\(one.name)")
            follow(route, at: 400)
            #expect(route.devices.pool == nil, "\(one.name)")
        }
    }

    @Test("a version that was proved meanwhile is what the next connections begin with")
    func keepsCredential() throws {
        let route = try connectedRoute()
        let pool = try #require(route.devices.pool)
        route.credential.offer(try credential(2), at: Self.moment(20))
        pool.judged(2, .accepted, now: Self.moment(20).monotonic)
        route.credential.offer(try credential(3), at: Self.moment(21))
        pool.judged(3, .refused(.oneRoute), now: Self.moment(21).monotonic)
        follow(route, at: 102)
        #expect(route.devices.pool == nil && route.credential.present?.version == 2)
        #expect(route.credential.known?.newest?.version == 2 && route.credential.known?.spare?.version == 3)
        openChannel(of: route, at: 300)
        try push(route, at: 300)
        #expect(route.devices.pool?.credential.version == 2 && route.devices.pool?.provingVersion == nil)
    }

    @Test("Operating says how many jobs a route takes before it has a connection")
    func page() throws {
        let route = try connectedRoute()
        for second: UInt64 in 101...102 { follow(route, at: second) }
        #expect(route.devices.pool == nil)
        let text = try Page(documentation: "Operating").text(of: "Prefetch and memory")
        #expect(text.contains("It is \(route.channel.consumer.wantedPrefetch) before the first connection to APNs."))
    }

    @Test("Jobs whose time has not come open no connection, and more than one of them comes at a time")
    func early() throws {
        let route = try connectedRoute()
        for second: UInt64 in 102...104 { follow(route, at: second) }
        #expect(route.devices.pool == nil && route.channel.consumer.wantedPrefetch == 1)
        let body = #"{"device_token":"aa11","not_before":\#(Self.wallClock + 60_000),"payload":{"aps":{}}}"#
        var early = delivery(returns: 0, id: "early", body: body)
        early.deliveryTag = 2
        take(early, route, at: 105)
        follow(route, at: 105)
        #expect(route.devices.pool == nil && route.channel.consumer.wantedPrefetch == RouteCredit.minimum)
        var due = delivery(returns: 0, id: "due", body: #"{"device_token":"bb22","payload":{"aps":{}}}"#)
        due.deliveryTag = 3
        take(due, route, at: 106)
        route.updateIntake(LaneCondition())
        #expect(route.channel.consumer.wantedPrefetch == 1)
        follow(route, at: 106)
        #expect(route.devices.pool != nil)
    }
}

extension APNSPool {
    /// APNs says something about a version, with an answer or on a connection.
    fileprivate func judged(_ version: Int, _ verdict: CredentialVerdict, now: MonotonicTime) {
        guard let change = rotation.judged(version, verdict) else { return }
        perform(change.steps, now: now)
        advance(now: now)
    }
}
