import EventLoop
import PushModel

/// The multicast jobs that a rate keeps half sent, one of each class, and since when. Time comes in.
struct SlowJobs {
    /// How long a rate may keep a multicast job partly sent. After that, the rest of the job goes into a tier. The
    /// deliveries behind the job must be done before RabbitMQ's `consumer_timeout` (30 minutes).
    static let longestHold = Duration.seconds(300)

    private typealias Begun = (job: JobInFlight, since: MonotonicTime)
    private var normal: Begun?
    private var high: Begun?

    /// Starts without jobs.
    init() {}

    /// Looks at the job of a class that is partly sent now.
    ///
    /// - Parameters:
    ///   - job: The job; nil without one, or without a rate.
    ///   - jobClass: The class of the list in which the job waits.
    ///   - now: The time.
    /// - Returns: Whether the job has been partly sent for too long.
    mutating func isOverdue(_ job: JobInFlight?, of jobClass: JobClass, now: MonotonicTime) -> Bool {
        switch jobClass {
        case .high: Self.isOverdue(job, &high, now: now)
        case .normal: Self.isOverdue(job, &normal, now: now)
        }
    }

    private static func isOverdue(_ job: JobInFlight?, _ begun: inout Begun?, now: MonotonicTime) -> Bool {
        guard let job else {
            begun = nil
            return false
        }
        guard let earlier = begun, earlier.job === job else {
            begun = (job, now)
            return false
        }
        return now - earlier.since >= longestHold
    }
}
