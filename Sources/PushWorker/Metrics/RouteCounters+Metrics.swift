extension RouteCounters {
    /// One counter or gauge of a route: the name and help of its metric, and its value.
    struct Metric: Sendable {
        /// Where the value is.
        let path: any WritableKeyPath<RouteCounters, Int> & Sendable
        /// The metric's name.
        let name: String
        /// What it measures.
        let help: String
        /// Whether it is written once, as a sum over all routes. With details it is written for each route.
        var isDetail = false
    }

    /// The whole-number counters of a route.
    static let counters: [Metric] = [
        Metric(path: \.jobsReceived, name: "martlet_jobs_received_total", help: "Jobs taken from the queue."),
        Metric(
            path: \.jobsRedelivered, name: "martlet_jobs_redelivered_total",
            help: "Jobs that the broker had delivered before."),
        Metric(
            path: \.jobsHandedBack, name: "martlet_jobs_handed_back_total",
            help: "Jobs given back to their queue unsent, for another worker.", isDetail: true),
        Metric(path: \.requests, name: "martlet_apns_requests_total", help: "Requests sent to APNs, resends included."),
        Metric(
            path: \.resends, name: "martlet_apns_resends_total",
            help: "Notifications sent again at once, because APNs provably had not taken them.", isDetail: true),
        Metric(
            path: \.duplicatesSuppressed, name: "martlet_duplicates_suppressed_total",
            help: "Notifications of jobs that came again and are not begun again: known, or still under way.",
            isDetail: true),
        Metric(
            path: \.settledTwice, name: "martlet_settled_twice_total",
            help: "Notifications that were to be settled a second time, which was refused: a defect of Martlet.",
            isDetail: true),
        Metric(
            path: \.cooled, name: "martlet_notifications_cooled_total",
            help: "Notifications that waited in a tier, because APNs had had too many for their device token.",
            isDetail: true),
        Metric(
            path: \.held, name: "martlet_notifications_held_total",
            help: "Notifications that waited in a tier, because their not_before had not come.", isDetail: true),
        Metric(
            path: \.paused, name: "martlet_notifications_paused_total",
            help: "Notifications that waited in a tier, because their campaign was paused.", isDetail: true),
        Metric(
            path: \.unknownFields, name: "martlet_jobs_unknown_fields_total",
            help: "Jobs with a field that this version does not know.", isDetail: true),
        Metric(
            path: \.repliesLost, name: "martlet_replies_lost_total",
            help: "Replies that were not allowed or went nowhere.", isDetail: true),
        Metric(
            path: \.connectionsOpened, name: "martlet_apns_connections_opened_total", help: "APNs connections opened.",
            isDetail: true),
        Metric(
            path: \.connectionsFailed, name: "martlet_apns_connections_failed_total",
            help: "APNs connections that could not be opened.", isDetail: true),
        Metric(
            path: \.goAways, name: "martlet_apns_goaways_total", help: "APNs connections that ended with a GOAWAY.",
            isDetail: true),
    ]

    /// The whole-number gauges of a route.
    static let gauges: [Metric] = [
        Metric(path: \.waiting, name: "martlet_notifications_waiting", help: "Notifications waiting for a stream."),
        Metric(
            path: \.suspects, name: "martlet_jobs_suspect",
            help: "Jobs that came back often, and wait to be taken up one at a time.", isDetail: true),
        Metric(path: \.inFlight, name: "martlet_apns_requests_in_flight", help: "Requests without an answer yet."),
        Metric(
            path: \.unacknowledged, name: "martlet_jobs_unacknowledged", help: "Jobs delivered and not acknowledged.",
            isDetail: true),
        Metric(
            path: \.bytesInFlight, name: "martlet_jobs_in_flight_bytes",
            help: "Bytes of jobs, headers and bodies, delivered and not acknowledged: see memory.jobs.", isDetail: true
        ),
        Metric(
            path: \.connections, name: "martlet_apns_connections",
            help: "Usable APNs connections; the first job opens the first."),
        Metric(
            path: \.coolingTokens, name: "martlet_tokens_cooling",
            help: "Device tokens that wait until APNs takes notifications for them again.", isDetail: true),
        Metric(
            path: \.streamLimit, name: "martlet_apns_stream_limit",
            help: "Streams that APNs allows on all connections.", isDetail: true
        ),
    ]
}
