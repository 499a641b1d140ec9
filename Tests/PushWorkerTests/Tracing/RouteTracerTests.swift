import EventLoop
import PushModel
import TestSupport
import Testing

@testable import PushWorker
@testable import RabbitMQ
@testable import TraceExport

@Suite("Spans of a route", .timeLimit(.minutes(1)))
struct RouteTracerTests: RouteSuite {
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let token = "5ec2e7ab"
    private static let body = #"{"id":"job-1","device_token":"\#(token)","payload":{"aps":{"alert":"SECRET"}}}"#

    /// A job with headers.
    private func job(_ headers: [(String, String)], _ body: String = body) throws -> JobInFlight {
        let route = try route()
        take(delivery(returns: 0, headers: headers, body: body), route)
        return try #require(route.devices.waiting.first)
    }

    private func notification(_ headers: [(String, String)] = [("traceparent", trace)]) throws
        -> PushWorker.Notification
    {
        try job(headers).next(0)
    }

    /// When the test's jobs end: 20 milliseconds after they arrived.
    private func end(of notification: PushWorker.Notification) -> Moment {
        Self.moment(1, wall: notification.job.receivedAt + 20)
    }

    @Test("An accepted push has a span of its attempt, and in it one of its request")
    func accepted() throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "app", seed: 1)
        let one = try notification([("traceparent", Self.trace), ("tracestate", "vendor=1")])
        let moment = end(of: one)
        tracer.requested(one, .response(Answer(status: 200)), microseconds: 4_500, at: moment)
        tracer.ended(one, .reported(FinalReport(.accepted, .none, status: 200)), at: moment)
        let spans = queue.take()
        try #require(spans.count == 2)
        let (request, attempt) = (spans[0], spans[1])
        #expect(spans.allSatisfy { $0.trace == (0x0af7_6519_16cd_43dd, 0x8448_eb21_1c80_319c) })
        #expect(spans.allSatisfy { $0.traceState == "vendor=1" && $0.failure == nil })
        #expect(attempt.parent == 0xb7ad_6b71_6920_3331 && request.parent == attempt.id && request.id != attempt.id)
        #expect(attempt.kind == .consumer && attempt.name == "process apns.q.jobs.app")
        #expect(request.kind == .client && request.name == "apns push")
        #expect(request.end - request.start == 4_500_000 && request.end == moment.wall * 1_000_000)
        #expect(attempt.start <= request.start && request.end <= attempt.end)
        #expect(attempt.start == one.job.receivedAt * 1_000_000)
        #expect(request.attributes.contains(.number("http.response.status_code", 200)))
        for fact in [
            TraceSpan.Attribute.text("messaging.system", "rabbitmq"), .text("messaging.message.id", "job-1"),
            .text("martlet.route", "app"), .text("martlet.outcome", "accepted"), .number("martlet.attempt", 1),
            .text("apns.topic", "com.example.app"), .text("apns.environment", "development"),
            .text("apns.push_type", "alert"),
        ] { #expect(attempt.attributes.contains(fact), "\(fact)") }
        #expect(!"\(spans)".contains(Self.token) && !"\(spans)".contains("SECRET"))
    }

    @Test("A request that took longer than the clock shows begins when its job arrived, at the earliest")
    func rounding() throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "app", seed: 1)
        let one = try notification()
        let moment = Self.moment(1, wall: one.job.receivedAt + 3)
        tracer.requested(one, .response(Answer(status: 200)), microseconds: 3_900, at: moment)
        tracer.ended(one, .reported(FinalReport(.accepted, .none)), at: moment)
        let spans = queue.take()
        #expect(spans[0].start == spans[1].start && spans[0].end <= spans[1].end)
        #expect(spans[0].end - spans[0].start == 3_900_000)
    }

    @Test("A failure says why: Apple's reason, or ours where APNs did not answer")
    func failures() throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "app", seed: 1)
        let one = try notification()
        let moment = end(of: one)
        tracer.requested(
            one, .response(Answer(status: 410, reason: .unregistered)), microseconds: 10, at: moment)
        tracer.ended(one, .reported(FinalReport(.deadToken, .dropToken, reason: .unregistered)), at: moment)
        tracer.requested(one, .unanswered(.deadline), microseconds: 10, at: moment)
        tracer.ended(one, .retried(attempt: 2, .unanswered(.deadline)), at: moment)
        let spans = queue.take()
        #expect(spans.map(\.failure) == ["Unregistered", "Unregistered", "Timeout", "Timeout"])
        #expect(spans[0].attributes.contains(.text("error.type", "Unregistered")))
        #expect(spans[3].attributes.contains(.number("martlet.next_attempt", 2)))
    }

    @Test("Every answer that accepts is a success, also those about broadcast channels", arguments: [200, 201, 204])
    func successes(_ status: Int) throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "app", seed: 1)
        let one = try notification()
        tracer.requested(one, .response(Answer(status: status)), microseconds: 10, at: end(of: one))
        #expect(queue.take().map(\.failure) == [nil])
    }

    @Test("Two copies of a job that arrive at the same moment have spans of their own")
    func copies() throws {
        let queue = SpanQueue()
        let tracer = RouteTracer(queue, route: "app", seed: 1)
        let two = [try notification(), try notification()]
        for one in two { tracer.ended(one, .reported(FinalReport(.accepted, .none)), at: end(of: one)) }
        #expect(Set(queue.take().map(\.id)).count == 2)
    }

    @Test("An attempt begins when its job was published, as far as its result knows that")
    func published() throws {
        let arrived = Self.wallClock
        let written = HeaderName.enqueuedAt.description
        for (headers, start) in [
            ([(written, "\(arrived - 500)")], arrived - 500), ([(written, "\(arrived + 9_000)")], nil),
            ([(written, "\(arrived / 1_000 - 1)")], nil),
            ([(written, "\(arrived - 500)"), (HeaderName.replay.description, "r1")], nil),
        ] as [([(String, String)], Int64?)] {
            let queue = SpanQueue()
            let tracer = RouteTracer(queue, route: "app", seed: 1)
            let one = try notification([("traceparent", Self.trace)] + headers)
            tracer.ended(one, .reported(FinalReport(.accepted, .none)), at: end(of: one))
            #expect(queue.take().map(\.start) == [(start ?? one.job.receivedAt) * 1_000_000], "\(headers)")
        }
    }

    @Test("The span of an attempt has the same id for each of its requests, and others on other lanes")
    func ids() throws {
        let queue = SpanQueue()
        var (one, other) = (RouteTracer(queue, route: "app", seed: 1), RouteTracer(queue, route: "app", seed: 2))
        let first = try notification()
        for _ in 0..<2 { one.requested(first, .unanswered(.connectionLost), microseconds: 1, at: end(of: first)) }
        one.ended(first, .reported(FinalReport(.accepted, .none)), at: end(of: first))
        other.ended(first, .reported(FinalReport(.accepted, .none)), at: end(of: first))
        let spans = queue.take()
        #expect(spans[0].parent == spans[2].id && spans[1].parent == spans[2].id)
        #expect(Set(spans.map(\.id)).count == 4)
    }

    @Test("Operating lists the spans, and what both kinds say, and nothing else")
    func page() throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "<route>", seed: 1)
        let many = #"{"id":"job-1","device_tokens":["aa11","bb22"],"payload":{"aps":{}}}"#
        let one = try job([("traceparent", Self.trace)], many).next(1)
        tracer.requested(one, .response(Answer(status: 503)), microseconds: 1, at: end(of: one))
        tracer.ended(one, .retried(attempt: 2, .unanswered(.deadline)), at: end(of: one))
        tracer.ended(one, .reported(FinalReport(.exhausted, .replay)), at: end(of: one))
        let spans = queue.take()
        let page = try Page(documentation: "Operating")
        for (name, kind) in [("request", TraceSpan.Kind.client), ("attempt", .consumer)] {
            let written = Set(spans.filter { $0.kind == kind }.flatMap { $0.attributes.map(\.key) })
            let rows = page.rows("attribute", in: "Traces").filter { [name, "both"].contains($0[1]) }
            #expect(Set(rows.flatMap { Page.quoted($0[0]) }) == written)
        }
        let names = page.rows("span", in: "Traces").compactMap { Page.quoted($0[0]).first }
        #expect(Set(names) == Set(spans.map(\.name)))
    }

    @Test(
        "A job without a trace has no spans, and neither has one whose trace is not recorded",
        arguments: [
            [], [("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")],
            [("traceparent", "nonsense")],
        ])
    func untraced(_ headers: [(String, String)]) throws {
        let queue = SpanQueue()
        var tracer = RouteTracer(queue, route: "app", seed: 1)
        let one = try notification(headers)
        tracer.requested(one, .response(Answer(status: 200)), microseconds: 1, at: end(of: one))
        tracer.ended(one, .reported(FinalReport(.accepted, .none)), at: end(of: one))
        #expect(queue.take().isEmpty)
    }
}
