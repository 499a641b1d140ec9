import EventLoop
import PushModel
import TestSupport
import Testing
import Topology
import WorkerSettings

@testable import PushWorker
@testable import RabbitMQ

@Suite("A job that comes back to another lane", .timeLimit(.minutes(1)))
struct RouteLanesTests {
    /// One route on two lanes, whose messages wait until they are delivered.
    private final class Pair {
        private(set) var routes: [Route] = []
        private var messages: [(lane: Int, message: RouteMessage)] = []
        private var tags: [UInt64] = [0, 0]
        /// Lanes that have ended.
        var ended: Set<Int> = []

        init() throws {
            let shared = SharedRouteState(lanes: [0, 1])
            let table = RoutesTable(routes: [
                TopologyRoute(name: "app", environment: .development, topics: ["com.example.app"])
            ])
            let renderer = PublicationRenderer(
                tiers: ["2s"], routes: ["app"], worker: "worker-1", includesDeviceToken: false)
            for lane in 0..<2 {
                let publisher = Publisher(link: { nil }, renderer: renderer) { _, _ in }
                publisher.confirmsSelected(1)
                let surroundings = RouteSurroundings(
                    lane: lane, policy: RetryPolicy(), publisher: publisher,
                    replyPattern: try ReplyPattern("^reply$"),
                    tell: { [unowned self] lane, message in
                        guard case .route(0, let message) = message else { return false }
                        guard !ended.contains(lane) else { return false }
                        messages.append((lane, message))
                        return true
                    })
                routes.append(
                    Route(
                        name: "app", position: 0, queues: ["q"], claim: RouteClaim(table: table, index: 0),
                        credit: RouteCredit(fixed: 50, rate: nil), shared: shared, surroundings: surroundings))
                open(lane)
            }
        }

        /// Gives a lane a channel that consumes everything.
        func open(_ lane: Int, at seconds: UInt64 = 1) {
            let route = routes[lane]
            let moment = RouteLanesTests.moment(seconds)
            route.channel.connected()
            _ = route.turn(at: moment, LaneCondition())
            route.channel.opened(at: moment)
            tags[lane] = 0
        }

        func lose(_ lane: Int, at seconds: UInt64 = 2) {
            routes[lane].channel.connectionLost(at: RouteLanesTests.moment(seconds))
        }

        /// Delivers a message; a job of three notifications.
        func deliver(_ lane: Int, returns: Int = 0, isCopy: Bool = false, id: String = "job-1", at seconds: UInt64 = 1)
        {
            tags[lane] += 1
            let delivery = RouteLanesTests.delivery(tags[lane], returns: returns, isCopy: isCopy, id: id)
            #expect(routes[lane].delivered(delivery, at: RouteLanesTests.moment(seconds)))
        }

        /// Delivers what the lanes have told each other, in order.
        func tell(at seconds: UInt64 = 3) {
            while !messages.isEmpty {
                let (lane, message) = messages.removeFirst()
                routes[lane].told(message, at: RouteLanesTests.moment(seconds))
            }
        }

        /// How many messages are under way.
        var underWay: Int { messages.count }

        /// What a lane owes the broker.
        func debts(_ lane: Int, at seconds: UInt64 = 60) -> [DeliveryLedger.Debt] {
            var debts: [DeliveryLedger.Debt] = []
            _ = routes[lane].settleDeliveries(at: RouteLanesTests.moment(seconds), isDraining: true) {
                debts.append($0)
                return true
            }
            return debts
        }
    }

    private static func moment(_ seconds: UInt64) -> Moment {
        Moment(monotonic: 0 + .seconds(Int64(seconds)), wall: 1_763_712_800_000 + Int64(seconds) * 1_000)
    }

    private static func delivery(_ tag: UInt64, returns: Int, isCopy: Bool = false, id: String = "job-1") -> Delivery {
        func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
        let exchange = Array((isCopy ? "apns.return" : "apns.jobs").utf8)
        let key = exchange + Array("development.normal.com.example.app".utf8)
        let body = Array(#"{"id":"\#(id)","device_tokens":["aa11","bb22","cc33"],"payload":{"aps":{}}}"#.utf8)
        var table = short("x-delivery-count") + [UInt8(ascii: "l")]
        table += (0..<8).reversed().map { UInt8(truncatingIfNeeded: returns >> (8 * $0)) }
        if isCopy {
            table += short("x-apns-v") + [UInt8(ascii: "S"), 0, 0, 0, 1] + Array("1".utf8)
            table += short("x-apns-duplicate") + [UInt8(ascii: "S"), 0, 0, 0, 8] + Array("possible".utf8)
        }
        let written = [0xA0, 0] + short("application/json") + [0, 0, 0, UInt8(table.count)] + table
        let properties = key.count..<(key.count + written.count)
        return Delivery(
            channel: 1, deliveryTag: tag, redelivered: returns > 0, bytes: key + written + body,
            exchange: 0..<exchange.count, routingKey: exchange.count..<key.count, properties: properties,
            body: properties.upperBound..<(properties.upperBound + body.count), bodySize: UInt64(body.count),
            isTruncated: false)
    }

    /// Sends some notifications of the job that waits on a lane.
    private func send(_ count: Int, on route: Route) throws -> [PushWorker.Notification] {
        try (0..<count).map { _ in try #require(route.devices.next()) }
    }

    /// Settles notifications as accepted, and confirms their results.
    private func accept(_ notifications: [PushWorker.Notification], on route: Route) {
        for notification in notifications {
            let final = FinalReport(.accepted, .none)
            route.settlement.report(notification, final, at: Self.moment(4))
            guard let publication = route.surroundings.publisher.unsent.last else {
                Issue.record("no result was published")
                return
            }
            route.published(publication, .confirmed, at: Self.moment(4))
        }
    }

    @Test("What was sent on one lane is not sent again on the other, which acknowledges once it is confirmed")
    func whole() throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.deliver(1, returns: 1)
        #expect(!pair.routes[1].devices.hasWaiting, "nothing is begun again")
        #expect(pair.routes[1].tally.counters.duplicatesSuppressed == 3)
        pair.tell()
        #expect(pair.debts(1) == [])
        accept(sent, on: pair.routes[0])
        pair.tell()
        #expect(pair.debts(1).count == 1)
        #expect(pair.routes.allSatisfy { $0.devices.isQuiet } && pair.routes[1].deliveries.ledger.isSettled)
        // The acknowledgement may be lost as well.
        pair.lose(1)
        pair.open(0)
        pair.deliver(0, returns: 2)
        #expect(!pair.routes[0].devices.hasWaiting && pair.debts(0).count == 1)
    }

    @Test("The rest of a job is sent on the lane that began it, also after that lane has a channel again and loses it")
    func rest() throws {
        let pair = try Pair()
        pair.deliver(0)
        var sent = try send(1, on: pair.routes[0])
        pair.lose(0)
        #expect(!pair.routes[0].devices.hasWaiting)
        pair.deliver(1, returns: 1)
        pair.tell()
        #expect(pair.routes[0].devices.hasWaiting)
        pair.open(0)
        pair.lose(0)
        #expect(pair.routes[0].devices.hasWaiting, "its delivery is on the other lane")
        sent += try send(2, on: pair.routes[0])
        #expect(Set(sent.map(\.index)) == [0, 1, 2])
        accept(sent, on: pair.routes[0])
        pair.tell()
        #expect(pair.debts(1).count == 1)
    }

    @Test("A job that is done before it hears of its new delivery still settles that delivery")
    func crossing() throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.deliver(1, returns: 1)
        accept(sent, on: pair.routes[0])
        #expect(pair.underWay == 1)
        pair.tell()
        #expect(pair.debts(1).count == 1)
    }

    @Test("A job whose lent delivery is lost goes on with the next one, wherever that comes", arguments: [0, 1])
    func lost(lane: Int) throws {
        let pair = try Pair()
        pair.deliver(0)
        var sent = try send(1, on: pair.routes[0])
        pair.lose(0)
        pair.deliver(1, returns: 1)
        pair.tell()
        pair.lose(1)
        pair.tell()
        #expect(!pair.routes[0].devices.hasWaiting, "the broker has it again")
        pair.open(lane)
        pair.deliver(lane, returns: 2)
        pair.tell()
        sent += try send(2, on: pair.routes[0])
        accept(sent, on: pair.routes[0])
        pair.tell()
        #expect(pair.debts(lane).count == 1 && !pair.routes[1].devices.hasWaiting)
    }

    @Test("A delivery that is lost while its job is being done is recognised when it comes again, once")
    func doneTooLate() throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.deliver(1, returns: 1)
        pair.tell()
        accept(sent, on: pair.routes[0])
        // The lane with the delivery loses its channel before it hears that the job is done.
        pair.lose(1)
        pair.tell()
        pair.open(1)
        pair.deliver(1, returns: 2)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting && pair.debts(1).count == 1)
        // Another worker had it in between.
        pair.lose(1)
        pair.open(1)
        pair.deliver(1, returns: 9)
        #expect(pair.routes[1].deliveries.intake.heldCount == 1, "taken up alone, not settled unseen")
    }

    @Test("What another worker may have had in between is pushed, though a lane of this one knows it")
    func elsewhere() throws {
        let pair = try Pair()
        pair.deliver(0)
        _ = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.deliver(1, returns: 2)
        pair.tell()
        #expect(pair.routes[1].devices.hasWaiting)
        #expect(pair.underWay == 0)
    }

    @Test(
        "A redelivery waits until the lane that has its job knows that its channel is gone", arguments: [true, false])
    func early(isSettled: Bool) throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        if isSettled { accept(sent, on: pair.routes[0]) }
        pair.deliver(1, returns: 1)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting && pair.routes[1].deliveries.ledger.unacknowledged == 1)
        #expect(pair.routes[0].turn(at: Self.moment(3), LaneCondition()) == [.setPrefetch(1)])
        pair.lose(0)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting)
        if !isSettled {
            accept(sent, on: pair.routes[0])
            pair.tell()
        }
        #expect(pair.debts(1).count == 1 && pair.routes[1].deliveries.ledger.isSettled)
    }

    @Test("A job that a lane whose channel is alive works on is another one that looks the same: both are pushed")
    func twins() throws {
        let pair = try Pair()
        pair.deliver(0)
        pair.deliver(1, returns: 1)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting)
        #expect(pair.routes[0].turn(at: Self.moment(3), LaneCondition()) == [.setPrefetch(1)])
        // What is asked from now on needs a sign of life of its own.
        pair.deliver(1, returns: 1)
        pair.tell()
        pair.routes[0].channel.prefetchSet()
        pair.tell()
        #expect(pair.routes[1].devices.waiting.count == 1)
        #expect(pair.routes[0].turn(at: Self.moment(3), LaneCondition()).contains(.setPrefetch(1)))
        pair.routes[0].channel.prefetchSet()
        pair.tell()
        #expect(pair.routes[1].devices.waiting.count == 2 && pair.routes[0].devices.hasWaiting)
    }

    @Test("What no lane has is pushed as soon as all have said so, or are silent for too long")
    func unknown() throws {
        let pair = try Pair()
        pair.deliver(1, returns: 1)
        #expect(!pair.routes[1].devices.hasWaiting && pair.underWay == 1)
        pair.tell()
        #expect(pair.routes[1].devices.hasWaiting)
        pair.deliver(0, returns: 1)
        _ = pair.routes[0].turn(at: Self.moment(10), LaneCondition())
        #expect(!pair.routes[0].devices.hasWaiting)
        #expect(pair.routes[0].nextDue(after: Self.moment(10)) <= Self.moment(1).monotonic + AskedDeliveries.patience)
        _ = pair.routes[0].turn(at: Self.moment(200), LaneCondition())
        #expect(pair.routes[0].devices.hasWaiting)
        pair.tell()
        #expect(pair.routes[0].devices.waiting.count == 1, "an answer that comes too late changes nothing")
    }

    @Test("A delivery that is lost while it is asked about comes again, and is then a job like any other")
    func lostWhileAsked() throws {
        let pair = try Pair()
        pair.deliver(1, returns: 1)
        pair.lose(1)
        pair.tell()
        #expect(pair.routes.allSatisfy { !$0.devices.hasWaiting })
        pair.open(1)
        pair.deliver(1, returns: 2)
        pair.tell()
        #expect(pair.routes[1].devices.hasWaiting && pair.underWay == 0)
    }

    @Test(
        "A broker that throws out all lanes, one after the other, gives the job of the first to the next: it is recognised",
        arguments: [[0, 1], [1, 0]], [true, false])
    func together(order: [Int], isRead: Bool) throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        // It comes to the other lane, which is thrown out as well; before or after it has read it.
        if isRead { pair.deliver(1, returns: 1) }
        for lane in order { pair.lose(lane) }
        pair.tell()
        pair.open(1)
        pair.deliver(1, returns: 2)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting)
        accept(sent, on: pair.routes[0])
        pair.tell()
        #expect(pair.debts(1).count == 1)
    }

    @Test("Suspects that one lane lost unread count for what the other one recognises")
    func unread() throws {
        let pair = try Pair()
        pair.deliver(0)
        _ = try send(3, on: pair.routes[0])
        pair.lose(0)
        var random = SystemRandomNumberGenerator()
        pair.routes[1].deliveries.hold(
            Self.delivery(9, returns: 5), returns: 5, at: Self.moment(2), random: &random)
        pair.lose(1)
        pair.open(1)
        pair.deliver(1, returns: 2)
        #expect(!pair.routes[1].devices.hasWaiting && pair.underWay == 1)
    }

    @Test(
        "Of two copies of one job, each on a lane of its own, one is pushed, whoever asks first",
        arguments: [[0, 1], [1, 0]])
    func copies(order: [Int]) throws {
        let pair = try Pair()
        for lane in order { pair.deliver(lane, isCopy: true) }
        pair.tell()
        #expect(pair.routes.map { $0.devices.waiting.count } == [1, 0])
        #expect(pair.debts(1).count == 1 && pair.debts(0).isEmpty)
        // A third one comes while the first is under way.
        pair.deliver(1, isCopy: true)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting)
    }

    @Test("Where the other lane has ended nobody is waited for, and its job is pushed again")
    func ended() throws {
        let pair = try Pair()
        pair.deliver(0)
        _ = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.ended = [0]
        pair.deliver(1, returns: 1)
        #expect(pair.routes[1].devices.waiting.count == 1)
        pair.deliver(1, returns: 1)
        #expect(pair.routes[1].devices.waiting.count == 2)
    }

    @Test("A lane that ends lets nobody wait for its answer")
    func ending() throws {
        let pair = try Pair()
        pair.deliver(0)
        pair.deliver(1, returns: 1)
        pair.tell()
        #expect(!pair.routes[1].devices.hasWaiting)
        pair.routes[0].close()
        pair.tell()
        #expect(pair.routes[1].devices.hasWaiting)
    }

    @Test("What is heard too late of a delivery that was lost again leaves alone the one that came after it")
    func overtaken() throws {
        let pair = try Pair()
        pair.deliver(0)
        var sent = try send(1, on: pair.routes[0])
        pair.lose(0)
        pair.open(0)
        pair.deliver(1, returns: 1)
        pair.lose(1)
        pair.deliver(0, returns: 2)
        #expect(pair.routes[0].devices.hasWaiting)
        // Only now the first lane hears what the other one had.
        pair.tell()
        sent += try send(2, on: pair.routes[0])
        accept(sent, on: pair.routes[0])
        pair.tell()
        #expect(pair.debts(0).count == 1)
    }

    @Test("A delivery that is lent counts as held by its lane, should it come again before that knows of its loss")
    func lentAndLost() throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        pair.lose(0)
        pair.open(0)
        pair.deliver(1, returns: 1)
        pair.tell()
        pair.deliver(0, returns: 2)
        pair.tell()
        #expect(!pair.routes[0].devices.hasWaiting)
        pair.lose(1)
        pair.tell()
        #expect(!pair.routes[0].devices.hasWaiting, "its own job goes on")
        accept(sent, on: pair.routes[0])
        #expect(pair.debts(0).count == 1)
    }

    @Test("A job that came back often is taken up while nothing is under way on the other lanes, which then go on")
    func suspect() throws {
        let pair = try Pair()
        pair.deliver(0)
        let sent = try send(3, on: pair.routes[0])
        func turn(_ lane: Int, at seconds: UInt64) {
            _ = pair.routes[lane].turn(at: Self.moment(seconds), LaneCondition())
            pair.tell(at: seconds)
        }
        // Taken up after the longest wait of a suspect.
        pair.deliver(1, returns: 7, id: "suspect")
        #expect(pair.routes[1].deliveries.intake.heldCount == 1)
        for seconds in 60...61 as ClosedRange<UInt64> { for lane in [1, 0] { turn(lane, at: seconds) } }
        #expect(pair.routes[1].deliveries.intake.heldCount == 1 && pair.routes[0].deliveries.suspects.makesRoom)
        #expect(pair.routes[0].channel.consumer.wantedPrefetch == 0)
        accept(sent, on: pair.routes[0])
        #expect(pair.debts(0, at: 62).count == 1)
        for seconds in 62...63 as ClosedRange<UInt64> { for lane in [0, 1] { turn(lane, at: seconds) } }
        #expect(pair.routes[1].deliveries.intake.heldCount == 0 && pair.routes[1].hasSuspect)
        // It is done with.
        accept(try send(3, on: pair.routes[1]), on: pair.routes[1])
        #expect(pair.debts(1, at: 64).count == 1)
        turn(1, at: 64)
        #expect(!pair.routes[0].deliveries.suspects.makesRoom && !pair.routes[1].hasSuspect)
        turn(0, at: 64)
        #expect(pair.routes[0].channel.consumer.wantedPrefetch > 0)
    }
}

extension Route {
    fileprivate var hasSuspect: Bool { deliveries.intake.hasSuspects }
}
