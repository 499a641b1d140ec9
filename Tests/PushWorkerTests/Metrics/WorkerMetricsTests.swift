import Foundation
import LocalStack
import PushModel
import Testing

@testable import PushWorker

/// Runs a program and gives what it wrote and how it ended, without holding up the threads that tests share.
func run(
    _ path: String, _ arguments: [String], input: [UInt8] = []
) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(
                with: Result {
                    let outcome = try ChildProcess.run(path, arguments, input: input)
                    return (outcome.status, outcome.text + outcome.errorText)
                })
        }
    }
}

/// The counters of a lane with three routes.
func sampleSnapshot() -> LaneSnapshot {
    var lane = LaneCounters()
    lane.count(.result)
    lane.count(.acknowledged, 2)
    lane.isConsumerUp = true
    lane.busy = .milliseconds(1_500)
    var shop = RouteCounters(tiers: 2)
    shop.outcomes.count(.accepted, nil, 40)
    shop.outcomes.count(.deadToken, .unregistered)
    shop.outcomes.count(.rejected, Reason(rawValue: "Odd\"\\\nReason"))
    let storm = Attempted.response(Answer(status: 503, reason: .serviceUnavailable))
    for (attempted, settlement) in [
        (storm, Settlement.retry(tier: 0, attempt: 2)), (.unanswered(.deadline), .retry(tier: 0, attempt: 2)),
        (.unprocessed, .resend),
    ] {
        settlement.repeats(attempted).map { shop.repeats.count($0, attempted.reason) }
    }
    shop.jobsReceived = 42
    (shop.retries, shop.retryCopies, shop.retryReturns) = ([1, 2], [1, 1], [0, 1])
    shop.requestDuration.record(microseconds: 700)
    shop.requestDuration.record(microseconds: 40_000)
    shop.isParked = true
    shop.holdsTokens = true
    (shop.limitedBy, shop.cooled, shop.coolingTokens) = (.window, 3, 2)
    var unrouted = RouteCounters(tiers: 2)
    unrouted.outcomes.count(.invalid, .noRoute, 6)
    unrouted.jobsReceived = 5
    return LaneSnapshot(lane: lane, routes: [shop, RouteCounters(tiers: 2), unrouted])
}

/// The routes that ``sampleSnapshot()`` counts, by their numbers.
let sampleRoutes: [String?] = ["shop", "beta", "unrouted"]

/// Metrics of these routes.
func sampleMetrics(isDetailed: Bool = false) -> WorkerMetrics {
    WorkerMetrics(
        build: [("version", "1.0"), ("odd", "a\"b\\c\nd")],
        tiers: ["2s", "1m"], isDetailed: isDetailed)
}

@Suite("Metrics", .timeLimit(.minutes(1)))
struct WorkerMetricsTests {
    private func text(_ metrics: WorkerMetrics, _ snapshot: LaneSnapshot = sampleSnapshot()) -> [String] {
        String(decoding: metrics.text(snapshot, routes: sampleRoutes), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    @Test("promtool finds nothing wrong with the text, busy or empty")
    func promtool() async throws {
        let empty = LaneSnapshot(lane: LaneCounters(), routes: [])
        for (snapshot, isDetailed) in [(sampleSnapshot(), false), (sampleSnapshot(), true), (empty, false)] {
            let text = sampleMetrics(isDetailed: isDetailed).text(snapshot, routes: sampleRoutes)
            let (status, output) = try await run("/usr/bin/promtool", ["check", "metrics"], input: text)
            #expect(status == 0)
            #expect(output == "")
        }
    }

    @Test("a route that has left has no series, and what it counted stays in the sums")
    func left() {
        var snapshot = sampleSnapshot()
        var counters = snapshot.routes[0] ?? RouteCounters(tiers: 2)
        counters.clearGauges()
        (snapshot.routes[0], snapshot.left) = (nil, counters)
        let text = String(
            decoding: sampleMetrics().text(snapshot, routes: [nil, "beta", "unrouted"]), as: UTF8.self)
        #expect(!text.contains("shop"))
        #expect(text.contains("martlet_notifications_cooled_total 3\n"))
        #expect(text.contains("martlet_tokens_cooling 0\n"))
        #expect(text.contains(#"martlet_notification_reasons_total{outcome="dead_token",reason="Unregistered"} 1"#))
    }

    @Test("routes have samples of their own, and what is rare is summed")
    func sums() {
        let lines = text(sampleMetrics())
        for line in [
            #"martlet_notifications_total{route="shop",outcome="accepted"} 40"#,
            #"martlet_notifications_total{route="shop",outcome="dead_token"} 1"#,
            #"martlet_notifications_total{route="beta",outcome="accepted"} 0"#,
            #"martlet_notifications_total{route="unrouted",outcome="invalid"} 6"#,
            #"martlet_notification_reasons_total{outcome="dead_token",reason="Unregistered"} 1"#,
            #"martlet_notification_reasons_total{outcome="rejected",reason="other"} 1"#,
            #"martlet_notification_reasons_total{outcome="invalid",reason="NoRoute"} 6"#,
            #"martlet_retries_total{route="shop"} 3"#,
            #"martlet_repeats_total{settlement="retry",status="503",reason="ServiceUnavailable"} 1"#,
            #"martlet_repeats_total{settlement="retry",status="none",reason="Timeout"} 1"#,
            #"martlet_repeats_total{settlement="resend",status="none",reason="NotTaken"} 1"#,
            #"martlet_retry_copies_total{tier="2s"} 1"#,
            #"martlet_retry_returns_total{tier="2s"} 0"#,
            #"martlet_retry_returns_total{tier="1m"} 1"#,
            #"martlet_jobs_received_total{route="shop"} 42"#,
            #"martlet_jobs_received_total{route="unrouted"} 5"#,
            #"martlet_route_parked{route="shop"} 1"#, #"martlet_route_holds_tokens{route="shop"} 1"#,
            #"martlet_route_parked{route="beta"} 0"#,
            #"martlet_route_limited_by{route="shop",limit="window"} 1"#,
            #"martlet_route_limited_by{route="shop",limit="nothing"} 0"#,
            #"martlet_route_limited_by{route="beta",limit="nothing"} 1"#,
            #"martlet_notifications_cooled_total 3"#,
            #"martlet_tokens_cooling 2"#,
            #"martlet_apns_request_duration_seconds_bucket{le="0.001"} 1"#,
            #"martlet_apns_request_duration_seconds_bucket{le="0.05"} 2"#,
            #"martlet_apns_request_duration_seconds_bucket{le="+Inf"} 2"#,
            #"martlet_apns_request_duration_seconds_sum 0.0407"#,
            #"martlet_apns_request_duration_seconds_count 2"#,
            #"martlet_publications_total{lane="0",kind="result"} 1"#,
            #"martlet_deliveries_settled_total{lane="0",kind="acknowledged"} 2"#,
            #"martlet_loop_busy_seconds_total{lane="0"} 1.5"#,
            #"martlet_broker_connection_up{lane="0",role="consume"} 1"#,
            #"martlet_broker_connection_up{lane="0",role="publish"} 0"#,
            #"martlet_build_info{version="1.0",odd="a\"b\\c\nd"} 1"#,
            #"martlet_log_lines_dropped_total 0"#,
        ] {
            #expect(lines.contains(line), "missing \(line)")
        }
    }

    @Test("details stand for each route")
    func details() {
        let lines = text(sampleMetrics(isDetailed: true))
        for line in [
            #"martlet_notifications_total{route="shop",outcome="dead_token"} 1"#,
            #"martlet_notification_reasons_total{route="shop",outcome="dead_token",reason="Unregistered"} 1"#,
            #"martlet_retries_total{route="shop",tier="1m"} 2"#,
            #"martlet_repeats_total{route="shop",settlement="retry",status="503",reason="ServiceUnavailable"} 1"#,
            #"martlet_retries_total{route="beta",tier="2s"} 0"#,
            #"martlet_retry_returns_total{route="shop",tier="1m"} 1"#,
            #"martlet_notifications_cooled_total{route="shop"} 3"#,
            #"martlet_tokens_cooling{route="shop"} 2"#,
            #"martlet_apns_request_duration_seconds_bucket{route="shop",le="0.05"} 2"#,
            #"martlet_apns_request_duration_seconds_count{route="beta"} 0"#,
        ] {
            #expect(lines.contains(line), "missing \(line)")
        }
    }

    @Test("the process reports itself")
    func process() {
        let lines = text(sampleMetrics())
        for name in [
            "process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
            "process_start_time_seconds", "process_threads",
        ] {
            #expect(lines.contains { $0.hasPrefix("\(name) ") && !$0.hasSuffix(" 0") }, "missing \(name)")
        }
    }

    @Test("a program's odd name does not confuse the kernel's line")
    func stat() {
        let line = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 100 20 0 0 20 0 5 0 777 4096 12 18446744073709551615 0\n"
        let metrics = ProcessMetrics(stat: line)
        #expect(metrics?.cpuTicks == 120)
        #expect(metrics?.threads == 5)
        #expect(metrics?.startTicks == 777)
        #expect(metrics?.virtualBytes == 4096)
        #expect(metrics?.residentPages == 12)
        #expect(ProcessMetrics(stat: "") == nil)
        #expect(ProcessMetrics(stat: "7 (a) S 1") == nil)
        #expect(ProcessMetrics.bootTime("cpu 1\nbtime 1763712764\n") == 1_763_712_764)
    }

    @Test(
        "durations fall into the bucket whose bound they do not exceed",
        arguments: [(-5, 0), (0, 0), (1000, 0), (1001, 1), (30_000_000, 14), (30_000_001, 15), (Int.max, 15)])
    func buckets(_ microseconds: Int, _ bucket: Int) {
        var histogram = DurationHistogram(.request)
        histogram.record(microseconds: microseconds)
        #expect((0..<16).filter { histogram[$0] == 1 } == [bucket])
        #expect(histogram.count == 1)
    }

    @Test("every scale has fifteen ascending bounds")
    func scales() {
        for scale in [DurationHistogram.Scale.request, .wait] {
            #expect(scale.microseconds.count == 15)
            #expect(scale.microseconds == scale.microseconds.sorted())
        }
    }

    @Test("reasons stay bounded, however many a peer invents, and none is lost from the sum")
    func boundedReasons() {
        var counts = OutcomeCounts()
        for index in 0..<1000 { counts.count(.rejected, Reason(rawValue: "Reason\(index)")) }
        counts.count(.expired, nil, 3)
        let entries = counts.refused.entries
        #expect(entries.count <= ReasonCounts<Outcome>.limit + 2)
        #expect(entries.reduce(0) { $0 + $1.count } == 1003)
        #expect(entries.contains { $0.reason == "other" && $0.kind == .rejected && $0.count > 900 })
    }

    @Test("what is sent again stays bounded, however many statuses and reasons a peer invents, and none is lost")
    func boundedRepeats() {
        var counts = ReasonCounts<Repeat>()
        for status in 500..<600 {
            for index in 0..<20 {
                let attempted = Attempted.response(Answer(status: status, reason: Reason(rawValue: "Reason\(index)")))
                Settlement.retry(tier: 0, attempt: 2).repeats(attempted).map { counts.count($0, attempted.reason) }
            }
        }
        let kinds = Repeat.Way.allCases.count * AnswerCounts.labels.count
        #expect(counts.entries.count <= ReasonCounts<Repeat>.limit + kinds)
        #expect(Set(counts.entries.map(\.kind.status)) == ["500", "503", "other"])
        #expect(counts.entries.reduce(0) { $0 + $1.count } == 2_000)
    }

    @Test(
        "each attempt that leads to another is named: by Apple's status and reason, or by what came instead",
        arguments: [
            (.response(Answer(status: 503, reason: .shutdown)), .resendOnNewConnection, "resend 503 Shutdown"),
            (
                .response(Answer(status: 429, reason: .tooManyRequests)), .retry(tier: 1, attempt: 2),
                "retry 429 TooManyRequests"
            ),
            (.response(Answer(status: 500)), .retry(tier: 1, attempt: 2), "retry 500 "),
            (.response(Answer(status: 599)), .retry(tier: 1, attempt: 2), "retry other "),
            (.response(Answer(status: 403, reason: .forbidden)), .park(tier: 0), "park 403 Forbidden"),
            (.unprocessed, .resend, "resend none NotTaken"),
            (.unanswered(.deadline), .retry(tier: 0, attempt: 2), "retry none Timeout"),
            (.unanswered(.reset(code: 2)), .retry(tier: 0, attempt: 2), "retry none StreamReset"),
            (.unanswered(.connectionLost), .retry(tier: 0, attempt: 2), "retry none ConnectionLost"),
            (.unreachable("no address"), .retry(tier: 0, attempt: 2), "retry none Unreachable"),
            (.heldBack(.connection("GOAWAY")), .park(tier: 0), "park none HeldBack"),
            (.expired, .report(FinalReport(.expired, .none)), nil),
            (.response(Answer(status: 503)), .report(FinalReport(.exhausted, .replay)), nil),
        ] as [(Attempted, Settlement, String?)])
    func repeats(_ attempted: Attempted, _ settlement: Settlement, _ expected: String?) {
        let kind = settlement.repeats(attempted)
        #expect(kind.map { "\($0.way) \($0.status) \(attempted.reason?.rawValue ?? "")" } == expected)
    }

    @Test("the lane's latest snapshot replaces the one before")
    func publishing() {
        let metrics = LaneMetrics()
        #expect(metrics.latest.routes.isEmpty)
        metrics.publish(sampleSnapshot())
        #expect(metrics.latest.routes[0]?.jobsReceived == 42)
    }
}
