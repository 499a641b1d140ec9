import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("How many time series there are", .timeLimit(.minutes(1)))
struct WorkerMetricsSeriesTests {
    /// What a route adds at the start where no details are wanted.
    private static let atStart = 29
    /// What its credential adds.
    private static let ofCredential = 2
    private let tiers = ["2s", "15s", "1m", "5m", "30m", "1h", "6h"]

    /// Counters of a route to which everything has happened that is counted.
    private func busy() -> RouteCounters {
        var counters = RouteCounters(tiers: tiers.count)
        for outcome in Outcome.allCases {
            counters.outcomes.count(outcome, nil)
            for index in 0..<100 { counters.outcomes.count(outcome, Reason(rawValue: "Reason\(index)")) }
        }
        for index in 0..<100 {
            let answer = Attempted.response(Answer(status: 400 + index, reason: Reason(rawValue: "Reason\(index)")))
            Settlement.retry(tier: 0, attempt: 2).repeats(answer).map { counters.repeats.count($0, answer.reason) }
        }
        for metric in RouteCounters.counters + RouteCounters.gauges { counters[keyPath: metric.path] = 1 }
        counters.retries = tiers.map { _ in 1 }
        (counters.retryCopies, counters.retryReturns) = (counters.retries, counters.retries)
        counters.requestDuration.record(microseconds: 1_000)
        counters.queueAge.record(microseconds: 1_000)
        counters.jobDuration.record(microseconds: 1_000)
        counters.isParked = true
        counters.holdsTokens = true
        counters.clockSkew = 1
        counters.limitedBy = .apns
        return counters
    }

    /// The series of a worker each of whose routes has a credential of its own.
    private func series(routes: Int, of counters: RouteCounters, isDetailed: Bool = false)
        -> [Substring]
    {
        let names = (0..<routes).map { "route-\($0)" }
        let metrics = WorkerMetrics(build: [], tiers: tiers, isDetailed: isDetailed)
        let lane = LaneSnapshot(lane: LaneCounters(), routes: Array(repeating: counters, count: routes) + [nil])
        let credentials = names.map { CredentialStatus(name: $0, version: 1, notAfter: 0) }
        let text = metrics.text(
            lane, routes: names + ["unrouted"], credentials: credentials)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test("a route adds 29, whatever has happened to it, and one more once APNs has told the time")
    func perRoute() {
        for (counters, expected) in [
            (RouteCounters(tiers: tiers.count), Self.atStart), (busy(), Self.atStart + 1),
        ] {
            let added = series(routes: 21, of: counters).count - series(routes: 1, of: counters).count
            #expect(added == 20 * (expected + Self.ofCredential), "\(added / 20) per route and credential")
        }
        let detailed = series(routes: 2, of: busy(), isDetailed: true).count
        #expect(detailed - series(routes: 1, of: busy(), isDetailed: true).count > Self.atStart + 1 + Self.ofCredential)
    }

    @Test("Operating says how many a route adds")
    func page() throws {
        let page = try Page(documentation: "Operating")
        #expect(page.text(of: "/metrics").contains("A route makes \(Self.atStart) time series,"))
        let costs = page.rows("what", in: "What many routes and workers cost")
        let row = try #require(costs.first { $0[0] == "time series of a route" })
        #expect(row[1].hasPrefix("\(Self.atStart), "))
    }

    @Test("nothing but reasons begins later than the worker, so that no first failure escapes increase()")
    func fromTheStart() {
        func names(_ counters: RouteCounters) -> Set<Substring> {
            Set(series(routes: 2, of: counters).compactMap { $0.split(separator: " ").first })
        }
        let later = names(busy()).subtracting(names(RouteCounters(tiers: tiers.count)))
        #expect(!later.isEmpty)
        for name in later {
            #expect(
                name.hasPrefix("martlet_notification_reasons_total{") || name.hasPrefix("martlet_repeats_total{")
                    || name.hasPrefix("martlet_apns_clock_skew_seconds{"), "\(name)")
        }
        // The same holds for a route of which nothing was reported yet.
        #expect(names(RouteCounters(tiers: tiers.count)) == Set(unreported()))
    }

    private func unreported() -> [Substring] {
        let names = ["route-0", "route-1"]
        let metrics = WorkerMetrics(build: [], tiers: tiers)
        let lane = LaneSnapshot(lane: LaneCounters(), routes: [])
        let credentials = names.map { CredentialStatus(name: $0, version: 1, notAfter: 0) }
        let text = metrics.text(lane, routes: names + ["unrouted"], credentials: credentials)
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").first }
    }
}
