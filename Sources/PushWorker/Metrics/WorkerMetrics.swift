import EventLoop
package import TraceExport

/// The text of all metrics of a worker: build, log, credentials, fleet, control, lane and process.
package struct WorkerMetrics: Sendable {
    private let build: [(String, String)]
    private let lane: LaneMetricsWriter

    /// Names what the metrics are about.
    ///
    /// - Parameters:
    ///   - build: Versions for `martlet_build_info`, as label and value.
    ///   - tiers: The tiers' names: those of the retry tiers, then those of the holding tiers.
    ///   - isDetailed: Whether reasons, tiers, histograms and rarer counters are written for each route.
    package init(build: [(String, String)], tiers: [String], isDetailed: Bool = false) {
        self.build = build
        lane = LaneMetricsWriter(tiers: tiers, isDetailed: isDetailed)
    }

    /// Writes the text.
    ///
    /// - Parameters:
    ///   - snapshot: What the lane counted.
    ///   - routes: The routes' names, by their numbers; nil for a number without a route.
    ///   - credentials: How each credential is doing.
    ///   - now: Seconds since 1970.
    ///   - droppedLogLines: How many log lines found no room, or could not be written.
    ///   - fleet: How the worker sees its fleet; nil where its share of the routes is configured.
    ///   - control: How the worker knows what operators ask for; nil to leave these metrics out.
    ///   - spans: What became of the spans; nil where no collector is configured.
    ///   - endedByBroker: How many jobs were reported that RabbitMQ ended in their queues, by why it ended them.
    /// - Returns: Prometheus' text format.
    package func text(
        _ snapshot: LaneSnapshot, routes: [String?], credentials: [CredentialStatus] = [],
        now: Int64 = WallClock.milliseconds() / 1_000, droppedLogLines: UInt64 = 0,
        fleet: FleetStatus? = nil, control: ControlStatus? = nil,
        spans: SpanQueue.Counts? = nil, endedByBroker: [(reason: String, jobs: Int)] = []
    ) -> [UInt8] {
        var text = MetricsText()
        text.family("martlet_build_info", .gauge, "The versions in use; always 1.")
        text.sample("martlet_build_info", build, 1)
        text.family(
            "martlet_log_lines_dropped_total", .counter,
            "Log lines that nobody read in time, or that could not be written.")
        text.sample("martlet_log_lines_dropped_total", [], Int(clamping: droppedLogLines))
        Self.write(credentials, now: now, to: &text)
        if let fleet { Self.write(fleet, to: &text) }
        if let control { Self.write(control, to: &text) }
        if let spans { Self.write(spans, to: &text) }
        text.family(
            "martlet_jobs_ended_by_broker_total", .counter,
            "Jobs that RabbitMQ ended in their queues, and whose results this worker published.")
        for (reason, jobs) in endedByBroker {
            text.sample("martlet_jobs_ended_by_broker_total", [("reason", reason)], jobs)
        }
        lane.write(snapshot, routes: routes, to: &text)
        ProcessMetrics.write(to: &text)
        return text.bytes
    }

    private static func write(_ spans: SpanQueue.Counts, to text: inout MetricsText) {
        text.family("martlet_spans_exported_total", .counter, "Spans of notifications that the collector took.")
        text.sample("martlet_spans_exported_total", [], spans.exported)
        text.family(
            "martlet_spans_dropped_total", .counter,
            "Spans that never reached the collector: too many waited, it refused them, or it could not be reached.")
        for loss in SpanQueue.Loss.allCases {
            text.sample("martlet_spans_dropped_total", [("reason", loss.rawValue)], spans[loss])
        }
    }

    private static func write(_ control: ControlStatus, to text: inout MetricsText) {
        text.family("martlet_control_up", .gauge, "Whether the stream with what operators ask for is read.")
        text.sample("martlet_control_up", [], control.trouble == nil ? 1 : 0)
        text.family(
            "martlet_control_commands", .gauge, "Commands of operators in force, as this worker knows them.")
        text.sample("martlet_control_commands", [], control.inForce)
        text.family(
            "martlet_control_ignored_total", .counter, "Messages in the stream of commands that are not commands.")
        text.sample("martlet_control_ignored_total", [], control.ignored)
    }

    private static func write(_ fleet: FleetStatus, to text: inout MetricsText) {
        text.family(
            "martlet_fleet_workers", .gauge, "Workers that share the routes, as this one sees it, itself included.")
        text.sample("martlet_fleet_workers", [], fleet.workers)
        text.family(
            "martlet_fleet_reports_ignored_total", .counter,
            "Messages in the fleet's queue that are not reports, or come from too many workers.")
        text.sample("martlet_fleet_reports_ignored_total", [], fleet.ignored)
    }

    private static func write(_ credentials: [CredentialStatus], now: Int64, to text: inout MetricsText) {
        text.family(
            "martlet_credential_expiry_seconds", .gauge,
            "Time until a certificate expires, negative once it has; keys do not expire.")
        for one in credentials {
            guard let end = one.notAfter else { continue }
            text.sample("martlet_credential_expiry_seconds", [("credential", one.name)], Int(clamping: end - now))
        }
        text.family(
            "martlet_credential_version", .gauge, "How many different contents of a credential's files were read.")
        for one in credentials {
            text.sample("martlet_credential_version", [("credential", one.name)], one.version)
        }
    }
}
