import EventLoop
import PushModel
import TestSupport
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("A route that publishes several results in a message", .timeLimit(.minutes(1)))
struct RouteBatchTests: RouteSuite {
    /// A multicast job that asks for batches.
    private static let asking =
        #"{"id":"job-1","device_tokens":["aa11","bb22"],"payload":{"aps":{}},"results":"batch"}"#

    /// A route that consumes, and one job of two notifications that it took.
    private func taken(
        resultsBatch: Int = 100, padding: String? = nil, body: String? = nil
    ) throws -> (route: Route, job: JobInFlight) {
        let route = try route(resultsBatch: resultsBatch)
        route.channel.connected()
        for _ in 0..<4 { turn(route) }
        let plain = #"{"id":"job-1","device_tokens":["aa11","bb22"],"payload":{"aps":{}}}"#
        take(delivery(returns: 0, padding: padding, body: body ?? plain), route)
        return (route, try #require(route.devices.waiting.first))
    }

    private func turn(_ route: Route, _ condition: LaneCondition = LaneCondition()) {
        for action in route.turn(at: Self.moment(1), condition) { answer(action, route, at: Self.moment(1)) }
    }

    private func report(_ index: Int, of job: JobInFlight, _ outcome: Outcome = .accepted, to route: Route) {
        let final = FinalReport(outcome, .none, status: outcome == .accepted ? 200 : 410)
        guard let notification = job.next() else { return }
        #expect(notification.index == index)
        route.settlement.report(notification, final, at: Self.moment(2))
    }

    /// The batches among publications.
    private func batches(_ publications: some Sequence<Publication>) -> [ResultBatch] {
        publications.compactMap { (publication: Publication) -> ResultBatch? in
            guard case .batch(let batch, _) = publication.content else { return nil }
            return batch
        }
    }

    /// What the route owes for its deliveries now.
    private func debts(_ route: Route) -> [DeliveryLedger.Debt] {
        var debts: [DeliveryLedger.Debt] = []
        _ = route.settleDeliveries(at: Self.moment(3), isDraining: true) { debt in
            debts.append(debt)
            return true
        }
        return debts
    }

    @Test("the results of a turn are one message, and nothing is acknowledged before it is confirmed")
    func confirmed() throws {
        let (route, job) = try taken()
        let publisher = route.surroundings.publisher
        report(0, of: job, to: route)
        report(1, of: job, to: route)
        #expect(publisher.unsent.isEmpty && debts(route) == [])
        turn(route)
        let publication = try #require(publisher.unsent.first)
        #expect(publisher.unsent.count == 1 && batches([publication]).map(\.count) == [2])
        #expect(publication.kind == .result && debts(route) == [] && job.unconfirmed == 2)
        route.published(publication, .confirmed, at: Self.moment(2))
        #expect(job.isFinished && route.outbox.underWay == 0)
        #expect(debts(route) == [.acknowledge(.init(deliveryTag: 1, multiple: true))])
        turn(route)
        #expect(publisher.unsent.count == 1, "nothing is published twice")
    }

    @Test("a delivery waits for each message that carries one of its results")
    func several() throws {
        let (route, job) = try taken()
        report(0, of: job, to: route)
        report(1, of: job, .deadToken, to: route)
        turn(route)
        let publications = route.surroundings.publisher.unsent
        #expect(batches(publications).map(\.count) == [1, 1] && publications.count == 3, "and a dead letter")
        for publication in publications {
            #expect(debts(route) == [])
            route.published(publication, .confirmed, at: Self.moment(2))
        }
        #expect(debts(route).count == 1)
    }

    @Test(
        "a batch that the broker does not take is kept whole, and the route says why",
        arguments: [(true, "results_unroutable"), (false, "results_full")])
    func refused(isReturned: Bool, trouble: String) throws {
        let (route, job) = try taken()
        let publisher = route.surroundings.publisher
        for index in 0..<2 { report(index, of: job, to: route) }
        turn(route)
        let publication = try #require(publisher.unsent.first)
        publisher.settled(publication, isReturned ? .returned : .refused, now: 0)
        #expect(publisher.trouble(of: 0) == trouble)
        #expect(job.unconfirmed == 2 && debts(route) == [] && publication.isInLine)
        var (first, again) = (OutgoingMessage(), OutgoingMessage())
        renderer.render(publication, into: &first)
        renderer.render(publication, into: &again)
        #expect(first.bytes == again.bytes)
    }

    @Test("the message has the routing key and outcome of its results, and is known when it comes back")
    func message() throws {
        let (route, job) = try taken()
        for index in 0..<2 { report(index, of: job, to: route) }
        turn(route)
        let publication = try #require(route.surroundings.publisher.unsent.first)
        let batch = try #require(batches([publication]).first)
        var message = OutgoingMessage()
        renderer.render(publication, into: &message)
        #expect(text(message.exchange, in: message) == "apns.results")
        #expect(text(message.routingKey, in: message) == "accepted.development.com.example.app")
        #expect(text(message.text(of: .type), in: message) == "apns.results.v1")
        #expect(header("x-apns-outcome", in: message) == "accepted" && message.headers.count == 1)
        #expect(Array(message.bytes[message.body]) == batch.body)
        func isSame(_ id: String, _ key: String, exchange: String = "apns.results") -> Bool {
            renderer.isSame(
                publication, messageID: Array(id.utf8).span, exchange: Array(exchange.utf8).span,
                routingKey: Array(key.utf8).span)
        }
        let id = String(decoding: message.messageID, as: UTF8.self)
        let key = text(message.routingKey, in: message)
        #expect(isSame(id, key) && !isSame(id, key + "x") && !isSame("x" + id.dropFirst(), key))
    }

    @Test("a job that asks for it has its results in a message, whatever the configuration says")
    func asked() throws {
        let (route, job) = try taken(resultsBatch: 1, body: Self.asking)
        for index in 0..<2 { report(index, of: job, to: route) }
        turn(route)
        #expect(batches(route.surroundings.publisher.unsent).map(\.count) == [2])
        let (plain, other) = try taken(resultsBatch: 1)
        for index in 0..<2 { report(index, of: other, to: plain) }
        #expect(plain.surroundings.publisher.unsent.count == 2 && !plain.outbox.hasBatches)
    }

    @Test("a job with reply_to has a reply for each result unless it asks for batches")
    func singleReplies() throws {
        let (route, job) = try taken(padding: "reply")
        for index in 0..<2 { report(index, of: job, to: route) }
        #expect(route.surroundings.publisher.channels.replies.waiting.count == 2 && !route.outbox.hasBatches)
    }

    @Test("replies of a job that asks for batches are one message, and their results follow once its fate is known")
    func replies() throws {
        let (route, job) = try taken(resultsBatch: 1, padding: "reply", body: Self.asking)
        let publisher = route.surroundings.publisher
        for index in 0..<2 { report(index, of: job, to: route) }
        turn(route)
        let reply = try #require(publisher.channels.replies.waiting.first)
        #expect(publisher.channels.replies.waiting.count == 1 && publisher.unsent.isEmpty && reply.kind == .reply)
        var message = OutgoingMessage()
        renderer.render(reply, into: &message)
        #expect(text(message.exchange, in: message) == "apns.replies")
        #expect(text(message.routingKey, in: message) == "reply")
        #expect(text(message.text(of: .correlationID), in: message) == "reply")
        // Nothing is bound, so that the same message goes straight to the queue.
        route.published(reply, .returned, at: Self.moment(2))
        let again = try #require(publisher.channels.replies.waiting.last)
        #expect(publisher.channels.replies.waiting.count == 2 && again.isReplyToQueue && job.unconfirmed == 2)
        route.published(again, .refused, at: Self.moment(2))
        #expect(debts(route) == [] && route.tally.counters.repliesLost == 2)
        turn(route)
        let results = try #require(publisher.unsent.first)
        let batch = try #require(batches([results]).first)
        #expect(batch.count == 2 && !batch.isReply)
        #expect(String(decoding: batch.body, as: UTF8.self).contains("the reply was lost: the broker refused it"))
        route.published(results, .confirmed, at: Self.moment(2))
        #expect(debts(route).count == 1)
    }

    @Test("a route that drains publishes what it gathered, and is not drained before")
    func drain() throws {
        let (route, job) = try taken()
        for index in 0..<2 { report(index, of: job, to: route) }
        // The jobs come again, so that nothing else keeps the route.
        route.channel.closed(code: 404, text: "gone", at: Self.moment(2))
        #expect(!route.isDrained)
        turn(route, LaneCondition(isDraining: true))
        #expect(batches(route.surroundings.publisher.unsent).map(\.count) == [2] && route.isDrained)
    }
}
