import EventLoop
import Logging
import PushModel
import TestSupport
import Testing
import Topology
import WorkerSettings

@testable import PushWorker
@testable import RabbitMQ

@Suite("A route's turn", .timeLimit(.minutes(1)))
struct RouteTurnTests {
    private static let second: MonotonicTime = 1_000_000_000
    private let renderer = PublicationRenderer(
        tiers: ["2s"], routes: ["app"], worker: "worker-1", includesDeviceToken: false)

    private static func moment(_ seconds: UInt64) -> Moment {
        Moment(
            monotonic: 0 + .seconds(Int64(seconds)), wall: 1_763_712_800_000 + Int64(seconds) * 1_000)
    }

    /// A route without connections that publishes nowhere.
    private func route(_ credit: RouteCredit = RouteCredit(fixed: 50, rate: nil), memory: SharedMemoryBudget? = nil)
        throws -> Route
    {
        let publisher = Publisher(link: { nil }, renderer: renderer) { _, _ in }
        publisher.confirmsSelected(1)
        let table = RoutesTable(routes: [
            TopologyRoute(name: "app", environment: .development, topics: ["com.example.app"])
        ])
        return Route(
            name: "app", position: 0, queues: ["q"], claim: RouteClaim(table: table, index: 0),
            credit: credit,
            surroundings: RouteSurroundings(
                policy: RetryPolicy(), publisher: publisher, replyPattern: try ReplyPattern("^reply$"),
                memory: memory ?? SharedMemoryBudget()))
    }

    private func delivery(_ tag: UInt64) -> Delivery {
        let exchange = Array("apns.jobs".utf8)
        let key = exchange + Array("development.normal.com.example.app".utf8)
        let body = Array(#"{"id":"job-\#(tag)","device_token":"aa11","payload":{"aps":{}}}"#.utf8)
        let type = Array("application/json".utf8)
        let written: [UInt8] = [0x80, 0, UInt8(type.count)] + type
        let properties = key.count..<(key.count + written.count)
        return Delivery(
            channel: 1, deliveryTag: tag, redelivered: false, bytes: key + written + body,
            exchange: 0..<exchange.count, routingKey: exchange.count..<key.count, properties: properties,
            body: properties.upperBound..<(properties.upperBound + body.count), bodySize: UInt64(body.count),
            isTruncated: false)
    }

    /// Lets the route consume with a prefetch of one, as every channel begins.
    private func consume(_ route: Route) {
        route.channel.connected()
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.openChannel])
        route.channel.opened(at: Self.moment(1))
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.setPrefetch(1)])
        route.channel.prefetchSet()
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.startConsuming(queue: 0)])
        route.channel.consumeStarted(at: Self.moment(1))
    }

    @Test("what was taken in decides in the same turn how much more is wanted")
    func wants() throws {
        let route = try route()
        consume(route)
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [])
        #expect(route.delivered(delivery(1), at: Self.moment(1)))
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.cancelConsuming(queue: 0)])
    }

    @Test("a route that others serve opens no channel until it is this worker's, as often as that changes")
    func unassigned() throws {
        let route = try route()
        route.serve(false)
        route.channel.connected()
        for second in 1...5 { #expect(route.turn(at: Self.moment(UInt64(second)), LaneCondition()) == []) }
        let report = route.report(at: Self.moment(5), isDraining: false)
        #expect(report.status.state == .unassigned && report.status.troubles == [] && !report.counters.isAssigned)
        #expect(report.status.limitedBy == .nothing)
        route.serve(true)
        consume(route)
        #expect(route.report(at: Self.moment(5), isDraining: false).status.state == .ready)
        #expect(route.report(at: Self.moment(5), isDraining: false).counters.isAssigned)
        route.serve(false)
        #expect(route.turn(at: Self.moment(6), LaneCondition()) == [.cancelConsuming(queue: 0)])
        route.channel.consumeCancelled(Array(route.channel.consumerTag(0).utf8))
        #expect(route.turn(at: Self.moment(6), LaneCondition()) == [] && route.isDrained)
        route.serve(true)
        #expect(route.turn(at: Self.moment(7), LaneCondition()) == [.setPrefetch(50)], "on the same channel")
    }

    @Test("a route that others serve from now on finishes what it has, and gives back nothing unless the worker leaves")
    func finishesWhatItHas() throws {
        let route = try route()
        consume(route)
        #expect(route.delivered(delivery(1), at: Self.moment(1)))
        route.serve(false)
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.cancelConsuming(queue: 0)])
        route.channel.consumeCancelled(Array(route.channel.consumerTag(0).utf8))
        for second in 2...20 {
            #expect(route.turn(at: Self.moment(UInt64(second)), LaneCondition()) == [])
            #expect(route.devices.hasWaiting && !route.isDrained)
        }
        let leaving = LaneCondition(isDraining: true, isLeaving: true)
        #expect(route.turn(at: Self.moment(21), leaving) == [])
        #expect(!route.devices.hasWaiting && route.deliveries.ledger.hasDebts)
    }

    @Test("a route that was removed cancels, gives back what it did not send, and closes its channel in the end")
    func leaves() throws {
        let route = try route()
        consume(route)
        #expect(route.delivered(delivery(1), at: Self.moment(1)))
        #expect(!route.endOnceDrained(at: Self.moment(1)) && !route.letGo(), "only a route that leaves ends")
        route.leave()
        #expect(!route.serve(true) && !route.isServed, "a route that leaves takes no more jobs")
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.cancelConsuming(queue: 0)])
        #expect(route.devices.hasWaiting && !route.isDrained)
        route.channel.consumeCancelled(Array(route.channel.consumerTag(0).utf8))
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [])
        #expect(
            !route.devices.hasWaiting && route.deliveries.ledger.hasDebts && route.tally.counters.jobsHandedBack == 1)
        #expect(route.report(at: Self.moment(1), isDraining: false).status.state == .unassigned)
        let payment = route.settleDeliveries(at: Self.moment(1), isDraining: true) { _ in true }
        #expect(!route.letGo() && payment.sent == 1 && route.endOnceDrained(at: Self.moment(2)))
        #expect(
            !route.endOnceDrained(at: Self.moment(2)) && route.letGo() && !route.letGo() && !route.vacate(),
            "its channel is open")
        #expect(route.turn(at: Self.moment(2), LaneCondition()) == [])
        #expect(route.nextDue(after: Self.moment(2)) == Self.moment(12).monotonic)
        #expect(route.turn(at: Self.moment(12), LaneCondition()) == [.closeChannel])
        #expect(route.channel.closed(code: 200, text: "", at: Self.moment(12)) == nil, "the route asked for this")
        #expect(route.vacate() && !route.vacate() && route.hasLeft)
        #expect(route.channel.consumer.isClosed && route.turn(at: Self.moment(300), LaneCondition()) == [])
    }

    @Test("the log tells a closed channel once for each reason, and its end once all queues are consumed again")
    func channelOutage() throws {
        let route = try route()
        consume(route)
        #expect(route.channel.closed(code: 404, text: "no queue", at: Self.moment(2)) == .warning)
        #expect(route.channel.closed(code: 404, text: "no queue", at: Self.moment(3)) == .debug)
        #expect(route.channel.closed(code: 403, text: "no right", at: Self.moment(4)) == .warning)
        route.channel.opened(at: Self.moment(60))
        // Nothing was asked for yet, so nothing was started.
        #expect(route.channel.consumeStarted(at: Self.moment(60)) == nil)
        #expect(route.turn(at: Self.moment(60), LaneCondition()) == [.setPrefetch(1)])
        route.channel.prefetchSet()
        #expect(route.turn(at: Self.moment(60), LaneCondition()) == [.startConsuming(queue: 0)])
        let over = OutageLog.Ended(duration: .seconds(60), failures: 3)
        #expect(route.channel.consumeStarted(at: Self.moment(62)) == over)
        #expect(route.channel.consumeStarted(at: Self.moment(63)) == nil)
    }

    @Test("of two busy routes the first has most of the memory for jobs until the second comes, and half from then on")
    func sharesMemory() throws {
        let mebibyte = 1 << 20
        let memory = SharedMemoryBudget(bytes: 64 * mebibyte, queues: 16)
        let routes = try (0..<2).map { _ in try route(RouteCredit(fixed: nil, rate: nil), memory: memory) }
        for route in routes {
            consume(route)
            #expect(route.delivered(delivery(1), at: Self.moment(1)))
            _ = route.turn(at: Self.moment(1), LaneCondition())
        }
        let (first, second) = (routes[0], routes[1])
        #expect(first.prefetch.memory.lent == 32 * mebibyte && second.prefetch.memory.lent == 0)
        // Sizes are taken for the largest while few are known.
        #expect(
            (100...110).contains(first.channel.consumer.wantedPrefetch) && second.channel.consumer.wantedPrefetch == 6)
        for route in [first, first, second] { _ = route.turn(at: Self.moment(1), LaneCondition()) }
        for route in routes {
            #expect(
                route.prefetch.memory.lent == 16 * mebibyte && (50...60).contains(route.channel.consumer.wantedPrefetch)
            )
        }
    }

    @Test("a job goes back once the consumer is cancelled, not before, and is owed to the broker")
    func handsBack() throws {
        let route = try route()
        consume(route)
        #expect(route.delivered(delivery(1), at: Self.moment(1)))
        let leaving = LaneCondition(isDraining: true, isLeaving: true)
        #expect(route.turn(at: Self.moment(2), leaving) == [.cancelConsuming(queue: 0)])
        #expect(!route.deliveries.ledger.hasDebts && !route.isDrained)
        route.channel.consumeCancelled(Array("q0.1".utf8))
        #expect(route.turn(at: Self.moment(2), leaving) == [])
        #expect(route.deliveries.ledger.nextDebt == .requeue(1))
        let isFull = route.settleDeliveries(at: Self.moment(2), isDraining: true) { _ in false }
        #expect(!isFull.isComplete && isFull.sent == 0 && !route.isDrained)
        let sent = route.settleDeliveries(at: Self.moment(2), isDraining: true) { $0 == .requeue(1) }
        #expect(sent.isComplete && sent.sent == 1 && route.isDrained)
    }

    @Test("a route is due when time alone changes something, and not at all where nothing is under way")
    func due() throws {
        let route = try route()
        consume(route)
        // It looks for two seconds at what comes first.
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [])
        #expect(route.nextDue(after: Self.moment(1)) == Self.moment(3).monotonic)
        #expect(route.turn(at: Self.moment(3), LaneCondition()) == [.cancelConsuming(queue: 0)])
        #expect(route.nextDue(after: Self.moment(3)) == .distantFuture)
        // A probe, then the time after which a route that stands still gives its jobs back.
        route.devices.credentialRefused(.connection("refused"), at: Self.moment(10))
        _ = route.turn(at: Self.moment(10), LaneCondition())
        #expect(route.nextDue(after: Self.moment(10)) == Self.moment(15).monotonic)
        _ = route.turn(at: Self.moment(15), LaneCondition())
        #expect(route.nextDue(after: Self.moment(15)) == Self.moment(20).monotonic)
        _ = route.turn(at: Self.moment(20), LaneCondition())
        #expect(route.nextDue(after: Self.moment(20)) == .distantFuture)
    }

    @Test("a route with a job that it cannot send is looked at twice a second, and one with room to send sooner")
    func patrols() throws {
        let route = try route()
        consume(route)
        #expect(route.delivered(delivery(1), at: Self.moment(1)))
        _ = route.turn(at: Self.moment(1), LaneCondition())
        #expect(route.nextDue(after: Self.moment(1)) == Self.second + Route.backlogInterval)
        route.devices.credentialRefused(.connection("refused"), at: Self.moment(1))
        _ = route.turn(at: Self.moment(1), LaneCondition())
        #expect(route.nextDue(after: Self.moment(1)) == Self.second + Route.patrolInterval)
    }

    @Test("a connection that does not come back after a short life lets the job go that was kept as a probe")
    func relapse() {
        var breaker = RouteBreaker()
        breaker.connectivityChanged(isConnected: true, now: 0)
        breaker.connectivityChanged(isConnected: false, now: 0)
        breaker.tick(now: 0 + RouteBreaker.disconnectGrace)
        breaker.connectivityChanged(isConnected: true, now: 10_000_000_000)
        breaker.connectivityChanged(isConnected: false, now: 10_000_000_000)
        let end: MonotonicTime = 10_000_000_000 + RouteBreaker.relapseTime
        var due: [MonotonicTime] = []
        while let next = breaker.nextTick, next < end + .seconds(600) {
            due.append(next)
            breaker.tick(now: next)
        }
        #expect(due.last == end && !breaker.awaitsProbe)
    }
}
