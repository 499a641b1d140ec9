import EventLoop
import PushModel
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route does with a retry copy that the broker may have twice", .timeLimit(.minutes(1)))
struct RouteCopyTests: RouteSuite {
    @Test("A retry copy that the broker may have twice says so, and is not pushed again where it was pushed")
    func republished() throws {
        let route = try route()
        // Its channel is open, so that a delivery can be settled.
        route.channel.connected()
        for action in route.turn(at: Self.moment(1), LaneCondition()) { answer(action, route, at: Self.moment(1)) }
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        var message = OutgoingMessage()
        let copy = Publication(job: job, route: route.position, content: .retry(tier: 0, attempt: 1, indexes: nil))
        renderer.render(copy, into: &message)
        #expect(header("x-apns-duplicate", in: message) == nil)
        copy.isRepublished = true
        renderer.render(copy, into: &message)
        #expect(header("x-apns-duplicate", in: message) == "possible")
        copy.takeObligation()?.fulfil { _, _ in }

        while let notification = route.devices.next() {
            route.settlement.report(notification, FinalReport(.accepted, .none, status: 200), at: Self.moment(1))
        }
        for publication in route.surroundings.publisher.unsent {
            route.published(publication, .confirmed, at: Self.moment(1))
        }
        #expect(job.isFinished)
        let copies = [("x-apns-v", "1"), ("x-apns-duplicate", "possible")]
        var second = delivery(returns: 0, headers: copies)
        second.deliveryTag = 2
        take(second, route, at: 2)
        #expect(route.devices.waiting.isEmpty && route.tally.counters.duplicatesSuppressed == 2)
        // Without that word it is a job of its own, whatever id its producer chose.
        route.channel.generationEnded(at: Self.moment(2))
        take(delivery(returns: 0), route, at: 2)
        #expect(route.devices.waiting.count == 1 && route.tally.counters.duplicatesSuppressed == 2)
        // Another one, which was not pushed here, is; its result will say that it may not be the first.
        route.channel.generationEnded(at: Self.moment(3))
        take(
            delivery(
                returns: 0, id: "job-2", headers: copies,
                body: #"{"device_token":"aa11","payload":{"aps":{}}}"#), route, at: 4)
        #expect(route.devices.waiting.first?.job.redelivered == true)
    }

    @Test("Only a copy of a job that was attempted says when that was, and one that said so before says it again")
    func firstAttempt() throws {
        let name = "x-apns-first-attempt-at"
        for (before, wasAttempted, after) in [
            (nil, false, nil), (nil, true, Self.wallClock), (1_763_000_000_017, false, 1_763_000_000_017),
            (1_763_000_000_017, true, 1_763_000_000_017),
        ] as [(Int64?, Bool, Int64?)] {
            let route = try route()
            let headers = [("x-apns-v", "1")] + (before.map { [(name, "\($0)")] } ?? [])
            take(delivery(returns: 0, headers: headers), route)
            let job = try #require(route.devices.waiting.first)
            var message = OutgoingMessage()
            let content = Publication.Content.retry(tier: 0, attempt: 1, indexes: nil, wasAttempted: wasAttempted)
            renderer.render(Publication(job: job, route: route.position, content: content), into: &message)
            let written = message.headers.first { text($0.name, in: message) == name }
            #expect(written.map { Int64(bitPattern: $0.bits) } == after)
        }
    }

    @Test("A job whose topic belongs to another route here goes on to that one's queue, until it has waited too long")
    func moved() throws {
        let route = try route(neighbour: "com.example.moved")
        take(delivery(returns: 0, topic: "com.example.moved"), route)
        #expect(route.devices.waiting.isEmpty)
        let job = try #require(unsettled(route).first)
        #expect(job.groups.map(\.indexes) == [[0, 1]])
        #expect(job.refusal == nil && job.job.attempt == 1)

        func refused(_ delivery: Delivery, _ route: Route, at seconds: UInt64 = 1) throws -> Reason? {
            route.channel.generationEnded(at: Self.moment(seconds))
            take(delivery, route, at: seconds)
            return try #require(unsettled(route).first).refusal?.reason
        }
        let day = 86_400_000
        let old = [("x-apns-v", "1"), ("x-apns-first-attempt-at", "\(Self.wallClock - Int64(day))")]
        #expect(try refused(delivery(returns: 0, topic: "com.example.moved", headers: old), route) == .routingMismatch)
        #expect(try refused(delivery(returns: 0, topic: "com.example.nobodys"), route) == .routingMismatch)
        #expect(try refused(delivery(returns: 0, topic: "com.example.moved"), try self.route()) == .routingMismatch)
    }

    @Test("A job whose topic belongs to another route here is refused where it has no notification that could go on")
    func movedWithoutTokens() throws {
        let route = try route(neighbour: "com.example.moved")
        let body = #"{"id":"job-1","topic":"z","payload":{}}"#
        take(delivery(returns: 0, topic: "com.example.moved", body: body), route)
        let job = try #require(route.outbox.refused.first)
        #expect(job.refusal?.reason == .routingMismatch && job.unsettled > 0)
    }

    @Test("A retry copy that the broker has twice is pushed once, also while the first is under way")
    func copyUnderWay() throws {
        let route = try route()
        take(delivery(returns: 0, headers: [("x-apns-v", "1")]), route)
        let copies = [("x-apns-v", "1"), ("x-apns-duplicate", "possible")]
        var second = delivery(returns: 0, headers: copies)
        second.deliveryTag = 2
        take(second, route)
        #expect(route.devices.waiting.count == 1 && route.tally.counters.duplicatesSuppressed == 2)
        var ledger = route.deliveries.ledger
        let settled = ledger.decide(at: Self.moment(1), flush: true)
        #expect(settled == 1 && ledger.nextDebt == .acknowledge(.init(deliveryTag: 2, multiple: false)))
        // What a parked job became looks like it, and may be all that is left of it.
        let first = try #require(route.devices.waiting.first)
        first.comesBackUnchanged = true
        var own = delivery(returns: 0, headers: copies)
        own.deliveryTag = 3
        take(own, route)
        #expect(route.devices.waiting.count == 2 && route.tally.counters.duplicatesSuppressed == 2)
        // The next attempt is another matter.
        var next = delivery(returns: 0, headers: copies + [("x-apns-attempt", "2")])
        next.deliveryTag = 4
        take(next, route)
        #expect(route.devices.waiting.count == 3 && route.tally.counters.duplicatesSuppressed == 2)
    }

    @Test("A copy that fits no frame with its mark goes without it, and a copy that fits none then does not go")
    func shortened() throws {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let copy = Publication(job: job, route: route.position, content: .retry(tier: 0, attempt: 1, indexes: nil))
        copy.isRepublished = true
        var message = OutgoingMessage()
        renderer.render(copy, into: &message)
        let whole = message.propertyBytes
        renderer.render(copy, into: &message, shortened: true)
        let least = message.propertyBytes
        #expect(least < whole && header("x-apns-duplicate", in: message) == nil)
        for (room, expected) in [(whole, PublicationWriter.Outcome.written), (least, .written), (least - 1, .unfit)] {
            var endpoint = AMQPEndpoint(host: "127.0.0.1")
            endpoint.frameMax = room + MessageLayout.contentHeadSize + Frame.overhead
            let session = AMQPSession(endpoint, clientName: "test", bodyLimit: 1 << 20, now: Self.moment(1).monotonic)
            var writer = PublicationWriter(renderer)
            let outcome = try writer.write(copy, on: 1, of: session)
            #expect(outcome == expected, "\(room)")
        }
    }

    @Test("A retry copy counts for its tier once the broker has it, and never where it fits no frame")
    func counted() throws {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        func publication(_ indexes: [Int]?) -> Publication {
            Publication(job: job, route: route.position, content: .retry(tier: 0, attempt: 2, indexes: indexes))
        }
        route.published(publication(nil), .unfit, at: Self.moment(1))
        #expect(route.tally.counters.retries[0] == 0 && route.tally.counters.retryCopies[0] == 0)
        #expect(route.tally.counters.outcomes.count(of: .exhausted) == 2)
        route.published(publication(nil), .confirmed, at: Self.moment(1))
        #expect(route.tally.counters.retries[0] == 2 && route.tally.counters.retryCopies[0] == 1)
        route.published(publication([1]), .confirmed, at: Self.moment(1))
        #expect(route.tally.counters.retries[0] == 3 && route.tally.counters.retryCopies[0] == 2)
    }

    @Test("What comes back from a tier counts for it with each delivery, by the broker's word alone")
    func returned() throws {
        let route = try route()
        func returns(_ headers: [(String, String)], times: Int = 0) throws -> Int {
            let before = route.tally.counters.retryReturns
            route.channel.generationEnded(at: Self.moment(1))
            take(delivery(returns: times, headers: headers), route)
            return route.tally.counters.retryReturns[0] - before[0]
        }
        let (copy, death) = (("x-apns-v", "1"), ("x-first-death-queue", "apns.q.retry.2s"))
        #expect(try returns([copy, death]) == 1)
        #expect(try returns([death, copy]) == 1)
        #expect(try returns([copy, death], times: 1) == 1, "no worker may have seen it before")
        #expect(try returns([death]) == 0, "a dead letter that somebody moved")
        #expect(try returns([copy]) == 0)
        #expect(try returns([copy, ("x-first-death-queue", "apns.q.retry.2")]) == 0)
        #expect(route.tally.counters.retryReturns.count == RetryPolicy().allTiers.count)
    }

    @Test("A retry copy of a job that was delivered before may be the second of its kind, and says so")
    func copyOfRedelivered() throws {
        let route = try route()
        take(delivery(returns: 1), route)
        let copy = Publication(
            job: try #require(route.devices.waiting.first), route: route.position,
            content: .retry(tier: 0, attempt: 2, indexes: nil))
        var message = OutgoingMessage()
        renderer.render(copy, into: &message)
        #expect(header("x-apns-duplicate", in: message) == "possible")
    }
}
