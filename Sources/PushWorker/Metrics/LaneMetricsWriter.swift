import PushModel

/// Writes the counters of the lane and of its routes.
///
/// A route makes 29 series, and one more once APNs has told the time. Metrics that are rarely needed for one route
/// (reasons, histograms, ``RouteCounters/Metric/isDetail``) are written as one sum over all routes, with a label `tier`
/// where they are about tiers.
///
/// With details, these metrics have the label `route`, and `martlet_retries_total` has the label `tier`. Details change
/// no name. They change no sum as long as no route has left: only the sum over all routes keeps the counters of routes
/// that have left.
struct LaneMetricsWriter {
    /// The labels of a sample, and the counters that it shows.
    private typealias Sample = (labels: [(String, String)], counters: RouteCounters)

    /// Which lane it is: workers had several once, and dashboards know the label.
    private static let lane = ("lane", "0")

    /// The tiers' names, by position.
    let tiers: [String]
    /// Whether everything is written by route.
    var isDetailed = false

    /// Writes all families of the lane.
    ///
    /// - Parameters:
    ///   - snapshot: What the lane counted.
    ///   - routes: The routes' names, by their numbers; nil for a number without a route.
    ///   - text: Where they are written.
    func write(_ snapshot: LaneSnapshot, routes: [String?], to text: inout MetricsText) {
        let named = routes.enumerated().compactMap { number, name in
            name.map { name in
                let counters = number < snapshot.routes.count ? snapshot.routes[number] : nil
                return (labels: [("route", name)], counters: counters ?? RouteCounters(tiers: tiers.count))
            }
        }
        // The sum keeps the counters of routes that have left. A sum that falls would look like a restart of the
        // worker.
        let left = snapshot.left.map { [Sample([], $0)] } ?? []
        writeRoutes(named, details: isDetailed ? named : [([], sum(of: named + left))], to: &text)
        write(snapshot.lane, to: &text)
    }

    private func sum(of routes: [Sample]) -> RouteCounters {
        routes.reduce(into: RouteCounters(tiers: tiers.count)) { $0.add($1.counters) }
    }

    private func writeRoutes(_ routes: [Sample], details: [Sample], to text: inout MetricsText) {
        writeOutcomes(routes, details: details, to: &text)
        writeRetries(routes, details: details, to: &text)
        for (metrics, kind) in [(RouteCounters.counters, MetricsText.Kind.counter), (RouteCounters.gauges, .gauge)] {
            for metric in metrics {
                text.family(metric.name, kind, metric.help)
                for (labels, counters) in metric.isDetail ? details : routes {
                    text.sample(metric.name, labels, counters[keyPath: metric.path])
                }
            }
        }
        text.family("martlet_route_assigned", .gauge, "Whether this worker serves the route: see share.")
        for (labels, counters) in routes {
            text.sample("martlet_route_assigned", labels, counters.isAssigned ? 1 : 0)
        }
        text.family(
            "martlet_route_state", .gauge, "1 for what the route does now; all 0 while it starts or others serve it.")
        for (labels, counters) in routes {
            for state in [RouteState.ready, .probing, .unreachable, .parked, .paused] {
                text.sample(
                    "martlet_route_state", labels + [("state", state.rawValue)], counters.state == state ? 1 : 0)
            }
        }
        text.family("martlet_route_parked", .gauge, "Whether the route takes no jobs (1).")
        for (labels, counters) in routes {
            text.sample("martlet_route_parked", labels, counters.isParked ? 1 : 0)
        }
        text.family(
            "martlet_route_holds_tokens", .gauge,
            "Whether results say hold instead of drop_token (1), because most device tokens are refused.")
        for (labels, counters) in routes {
            text.sample("martlet_route_holds_tokens", labels, counters.holdsTokens ? 1 : 0)
        }
        text.family(
            "martlet_apns_clock_skew_seconds", .gauge, "How far this clock is ahead of APNs', where APNs told its time."
        )
        for (labels, counters) in routes {
            guard let skew = counters.clockSkew else { continue }
            text.sample("martlet_apns_clock_skew_seconds", labels, skew)
        }
        let limits = "martlet_route_limited_by"
        text.family(limits, .gauge, "What keeps the route from pushing more: 1 for the present limit.")
        for (labels, counters) in routes {
            for limit in RouteLimit.allCases {
                text.sample(limits, labels + [("limit", limit.rawValue)], counters.limitedBy == limit ? 1 : 0)
            }
        }
        writeHistograms(details, to: &text)
    }

    private func writeRetries(_ routes: [Sample], details: [Sample], to text: inout MetricsText) {
        text.family("martlet_retries_total", .counter, "Notifications in retry copies that the broker confirmed.")
        for (labels, counters) in routes {
            guard isDetailed else {
                text.sample("martlet_retries_total", labels, counters.retries.reduce(0, +))
                continue
            }
            for (tier, count) in zip(tiers, counters.retries) {
                text.sample("martlet_retries_total", labels + [("tier", tier)], count)
            }
        }
        let copies: [(String, String, (RouteCounters) -> [Int])] = [
            ("martlet_retry_copies_total", "Retry copies that the broker confirmed.", { $0.retryCopies }),
            ("martlet_retry_returns_total", "Retry copies that came back, each delivery of one.", { $0.retryReturns }),
        ]
        for (name, help, counts) in copies {
            text.family(name, .counter, help)
            for (labels, counters) in details {
                for (tier, count) in zip(tiers, counts(counters)) {
                    text.sample(name, labels + [("tier", tier)], count)
                }
            }
        }
    }

    /// Writes outcomes, answers, reasons and repeats.
    ///
    /// Each outcome is written from the start, with 0, because Prometheus does not see the increase of a series that
    /// begins with 1. A reason is written from its first notification on, because there are too many reasons.
    private func writeOutcomes(_ routes: [Sample], details: [Sample], to text: inout MetricsText) {
        let outcomes = "martlet_notifications_total"
        text.family(outcomes, .counter, "Notifications with a final outcome.")
        for (labels, counters) in routes {
            for outcome in Outcome.allCases {
                text.sample(
                    outcomes, labels + [("outcome", outcome.rawValue)], counters.outcomes.count(of: outcome))
            }
        }
        let answers = "martlet_apns_answers_total"
        text.family(answers, .counter, "Requests to APNs by the status of their answer, or none.")
        for (labels, counters) in details {
            for (status, count) in zip(AnswerCounts.labels, counters.answers.counts) {
                text.sample(answers, labels + [("status", status)], count)
            }
        }
        let reasons = "martlet_notification_reasons_total"
        text.family(reasons, .counter, "Notifications that were not accepted, by reason, from each reason's first on.")
        for (labels, counters) in details {
            for entry in counters.outcomes.refused.entries {
                let reason = [("outcome", entry.kind.rawValue), ("reason", entry.reason)]
                text.sample(reasons, labels + reason, entry.count)
            }
        }
        let repeats = "martlet_repeats_total"
        text.family(
            repeats, .counter, "Notifications to be sent again, by how the attempt ended, from each reason's first on.")
        for (labels, counters) in details {
            for entry in counters.repeats.entries {
                let (kind, reason) = (entry.kind, ("reason", entry.reason))
                text.sample(
                    repeats, labels + [("settlement", kind.way.rawValue), ("status", kind.status), reason], entry.count)
            }
        }
    }

    private func writeHistograms(_ samples: [Sample], to text: inout MetricsText) {
        let histograms: [(String, String, (RouteCounters) -> DurationHistogram)] = [
            ("martlet_apns_request_duration_seconds", "From sending a request to its answer.", { $0.requestDuration }),
            ("martlet_queue_age_seconds", "From the producer's time stamp to delivery here.", { $0.queueAge }),
            ("martlet_job_duration_seconds", "From a job's delivery to its last outcome.", { $0.jobDuration }),
        ]
        for (name, help, histogram) in histograms {
            text.family(name, .histogram, help)
            for (labels, counters) in samples { text.sample(name, labels, histogram(counters)) }
        }
    }

    private func write(_ lane: LaneCounters, to text: inout MetricsText) {
        text.family("martlet_publications_total", .counter, "Messages published to the broker.")
        write(lane, "martlet_publications_total", "kind", LaneCounters.Publication.allCases, to: &text) {
            $0.publications[$1.rawValue]
        }
        text.family("martlet_confirms_total", .counter, "Answers of the broker to publications.")
        write(lane, "martlet_confirms_total", "result", LaneCounters.Confirm.allCases, to: &text) {
            $0.confirms[$1.rawValue]
        }
        text.family("martlet_deliveries_settled_total", .counter, "Deliveries settled with the broker.")
        write(lane, "martlet_deliveries_settled_total", "kind", LaneCounters.Settling.allCases, to: &text) {
            $0.settlings[$1.rawValue]
        }
        let plain: [(String, MetricsText.Kind, String, (LaneCounters) -> Double)] = [
            ("martlet_broker_connects_total", .counter, "Broker connections opened.", { Double($0.brokerConnects) }),
            (
                "martlet_broker_disconnects_total", .counter, "Broker connections lost.",
                { Double($0.brokerDisconnects) }
            ),
            ("martlet_loop_turns_total", .counter, "Turns of the lane's loop.", { Double($0.turns) }),
            (
                "martlet_loop_busy_seconds_total", .counter, "Time the lane's loop was not waiting.",
                { $0.busy / .seconds(1) }
            ),
            (
                "martlet_loop_longest_turn_seconds", .gauge, "The longest recent turn of the loop.",
                { $0.longestTurn / .seconds(1) }
            ),
            (
                "martlet_standstills_total", .counter, "Times the lane did not turn for longer than two heartbeats.",
                { Double($0.standstills) }
            ),
            ("martlet_clock_steps_total", .counter, "Times the machine's clock was set.", { Double($0.clockSteps) }),
            (
                "martlet_broker_blocked", .gauge, "Whether the broker has blocked publishing.",
                { $0.isBlocked ? 1 : 0 }
            ),
            ("martlet_unconfirmed", .gauge, "Publications without a confirm yet.", { Double($0.unconfirmed) }),
        ]
        for (name, kind, help, value) in plain {
            text.family(name, kind, help)
            text.sample(name, [Self.lane], value(lane))
        }
        writeJournal(lane, to: &text)
        text.family("martlet_broker_connection_up", .gauge, "Whether a broker connection is up.")
        for (role, isUp) in [("consume", lane.isConsumerUp), ("publish", lane.isPublisherUp)] {
            text.sample("martlet_broker_connection_up", [Self.lane, ("role", role)], isUp ? 1 : 0)
        }
    }

    private func writeJournal(_ lane: LaneCounters, to text: inout MetricsText) {
        text.family("martlet_journal_up", .gauge, "Whether the journal takes notes, where one is configured.")
        if let isUp = lane.isJournalUp { text.sample("martlet_journal_up", [Self.lane], isUp ? 1 : 0) }
        let counts: [(name: String, help: String, value: (LaneCounters) -> Int)] = [
            ("records", "Accepted notifications noted in the journal.", { $0.journalRecords }),
            (
                "dropped", "Accepted notifications not noted, because the disk failed or was too slow.",
                { $0.journalDropped }
            ),
            ("late", "Results that did not wait for their note, because the disk took too long.", { $0.journalLate }),
        ]
        for (name, help, value) in counts {
            text.family("martlet_journal_\(name)_total", .counter, help)
            if lane.isJournalUp != nil { text.sample("martlet_journal_\(name)_total", [Self.lane], value(lane)) }
        }
    }

    private func write<Kind>(
        _ lane: LaneCounters, _ name: String, _ label: String, _ kinds: [Kind], to text: inout MetricsText,
        _ value: (LaneCounters, Kind) -> Int
    ) {
        for kind in kinds { text.sample(name, [Self.lane, (label, "\(kind)")], value(lane, kind)) }
    }
}
