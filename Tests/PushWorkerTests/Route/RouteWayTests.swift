import PushModel
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route does with jobs by the way they came", .timeLimit(.minutes(1)))
final class RouteWayTests: RouteSuite {
    /// The only job that a route refused.
    private func refused(_ route: Route) throws -> JobInFlight {
        let job = try #require(route.outbox.refused.first)
        #expect(route.devices.waiting.isEmpty)
        return job
    }

    /// The key of a refused job's results.
    private func place(_ job: JobInFlight) -> String {
        var key: [UInt8] = []
        ResultReport(index: 0, final: FinalReport(.invalid, .fixRequest), finishedAt: 0)
            .appendRoutingKey(for: job.job, to: &key)
        return String(decoding: key, as: UTF8.self)
    }

    @Test("A job by somebody's own exchange is refused, and speaks in nobody's name")
    func ownExchange() throws {
        let route = try route()
        take(delivery(returns: 0, exchange: "apns.q.reply.shop.e"), route)
        let job = try refused(route)
        #expect(job.refusal?.reason == .untrustedSource)
        #expect(job.refusal?.detail?.contains("by the exchange apns.q.reply.shop.e") == true)
        #expect(place(job) == "invalid.-.-")
    }

    @Test("A job that CC or BCC led here under a key that is not legible is refused, whatever its body claims")
    func hiddenCopy() throws {
        let route = try route()
        let body =
            #"{"id":"j","device_tokens":["aa11"],"environment":"development","topic":"com.example.app","payload":{"aps":{}}}"#
        take(
            delivery(
                returns: 0, exchange: "apns.jobs", routingKey: "development.normal.com.example.app.x_y", body: body),
            route)
        let job = try refused(route)
        #expect(job.refusal?.reason == .untrustedSource)
        #expect(!place(job).contains("com.example.app"))
    }

    @Test("Headers over the limit do not hide by whose exchange a job came")
    func damagedByOwnExchange() throws {
        let route = try route()
        let headers = [("large", String(repeating: "S", count: 40_000))]
        take(delivery(returns: 0, headers: headers, exchange: "apns.q.reply.shop.e"), route)
        let job = try refused(route)
        #expect(job.refusal?.reason == .untrustedSource && place(job) == "invalid.-.-")
    }

    @Test("The headers of a copy that a producer wrote lift no limit, and spend no attempt")
    func forgedCopy() throws {
        let route = try route()
        let far = Self.wallClock + Job.longestWait + 60_000
        let headers = [("x-apns-v", "1"), ("x-apns-duplicate", "possible"), ("x-apns-attempt", "9")]
        take(delivery(returns: 0, headers: headers, exchange: "apns.jobs"), route)
        let job = try #require(route.devices.waiting.first)
        #expect(!job.job.redelivered && job.job.attempt == 1)
        let late = try self.route()
        take(delivery(returns: 0, headers: headers + [("x-apns-not-before", "\(far)")], exchange: "apns.jobs"), late)
        #expect(try refused(late).refusal?.reason == .badNotBefore)
    }

    @Test(
        "A refused job speaks in the name of its key where the route claims that, or of what the route claims",
        arguments: [
            // A key of this route.
            ("development.normal.com.example.app", "com.other.app", "invalid.development.com.example.app"),
            // A key of another route, by BCC or a binding of somebody's.
            ("development.normal.com.other.app", "com.example.app", "invalid.-.-"),
            // No legible key: the job was moved.
            ("apns.q.jobs.app", "com.example.app", "invalid.development.com.example.app"),
            ("apns.q.jobs.app", "com.other.app", "invalid.-.-"),
        ])
    func places(_ key: String, _ topic: String, _ expected: String) throws {
        let route = try route()
        let claims = #""environment":"development","topic":"\#(topic)""#
        // It is refused by every reading: its deadline is no time.
        let body = #"{"id":"job-1","device_tokens":["aa11"],\#(claims),"deadline":"never","payload":{"aps":{}}}"#
        let exchange = key.hasPrefix("apns.q.") ? "" : "apns.jobs"
        take(delivery(returns: 0, exchange: exchange, routingKey: key, body: body), route)
        #expect(place(try refused(route)) == expected)
    }

    @Test(
        "A body that is too large is rejected, unless its x-death may end the broker's dead-lettering",
        arguments: [("x-other", true), ("x-death", false)])
    func tooLarge(_ header: String, _ isRejected: Bool) throws {
        let route = try route()
        var delivery = delivery(returns: 0, headers: [(header, "1")], exchange: "apns.jobs")
        delivery.isTruncated = true
        take(delivery, route)
        let job = try refused(route)
        #expect(job.refusal?.reason == .bodyTooLarge && job.isRejected == isRejected)
    }

    @Test("A job that contradicts its key waits in no tier, also where another route here claims what it says")
    func contradiction() throws {
        let route = try route(neighbour: "com.example.moved")
        let body = #"{"id":"job-1","device_tokens":["aa11"],"topic":"com.example.moved","payload":{"aps":{}}}"#
        take(delivery(returns: 0, body: body), route)
        #expect(try refused(route).refusal?.reason == .routingMismatch)
    }

    @Test(
        "The dead letter of a job that was moved keeps the first key, if the route claims that",
        arguments: [
            ("development.high.com.example.app", true), ("development.high.com.other.app", false),
            ("production.high.com.example.app", false),
        ])
    func firstKey(_ first: String, _ isKept: Bool) throws {
        let route = try route()
        let headers = [("x-apns-original-routing-key", first)]
        take(delivery(returns: 0, headers: headers, exchange: "", routingKey: "apns.q.jobs.app"), route)
        let job = try refused(route)
        #expect(job.refusal?.reason == .missingTopic)
        var message = OutgoingMessage()
        let report = try #require(job.refusal)
        renderer.render(
            Publication(job: job, route: route.position, content: .deadLetter(report, indexes: nil)), into: &message)
        #expect(header("x-apns-original-routing-key", in: message) == (isKept ? first : "apns.q.jobs.app"))
    }
}
