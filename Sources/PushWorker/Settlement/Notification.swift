import PushModel

/// One notification on its way: the job it belongs to and its position there.
struct Notification {
    /// The job it belongs to.
    var job: JobInFlight
    /// Its position in `device_tokens`; 0 for a job with one token.
    var index: Int
    /// How often it was sent again without costing an attempt.
    var resends = 0
    /// How often APNs said that it did not process the notification.
    var refusals = 0

    /// Whether it was sent before in the present attempt.
    var wasSent: Bool { resends > 0 || refusals > 0 }

    /// Whether it is its job's only notification and nothing was published for it yet.
    var isUntouched: Bool { !job.job.isMulticast && job.unsettled == 1 && job.unconfirmed == 0 }
}
