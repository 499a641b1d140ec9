import DequeModule
import PushModel

/// Jobs that are refused, oldest first. They wait here until their results can be published.
///
/// Each job becomes one result for each notification that could be read, so that the producer hears of every token. A
/// job of which no notification could be read becomes one result.
struct RefusedJobs {
    /// While this many publications of refused jobs have no confirm, a route reports no further refused notification.
    /// Results of other routes queue behind these publications in the broker. So this number bounds how long a campaign
    /// of refused jobs delays a neighbour.
    static let window = 128

    private var jobs = Deque<JobInFlight>()
    /// How many publications of refused jobs have no confirm yet.
    private(set) var unconfirmed = 0

    /// Starts without jobs.
    init() {}

    /// How many jobs wait.
    var count: Int { jobs.count }
    /// Whether no job waits.
    var isEmpty: Bool { jobs.isEmpty }
    /// The job whose results go out next.
    var first: JobInFlight? { jobs.first }
    /// The job that came last.
    var last: JobInFlight? { jobs.last }

    /// Takes a job.
    mutating func take(_ job: JobInFlight) { jobs.append(job) }

    /// Whether the next result may be queued now.
    ///
    /// - Parameters:
    ///   - publisher: Publishes it.
    ///   - route: The position of the route.
    func mayReport(_ publisher: Publisher, of route: Int) -> Bool {
        guard unconfirmed < Self.window, let job = jobs.first else { return false }
        return publisher.takesRefusals(of: route, withReply: job.job.replyTo != nil)
    }

    /// A publication for a job was queued, or a batch with some of the job's results.
    mutating func published(for job: JobInFlight, _ count: Int = 1) {
        if job.refusal != nil { unconfirmed += count }
    }

    /// The fate of a publication for a job is known, or the fate of a batch with some of the job's results.
    mutating func confirmed(for job: JobInFlight, _ count: Int = 1) {
        if job.refusal != nil { unconfirmed -= count }
    }

    /// The next notification to report; nil where its result may not be queued now.
    mutating func next(_ publisher: Publisher, of route: Int) -> Notification? {
        guard let job = jobs.first, mayReport(publisher, of: route) else { return nil }
        let notification = job.next()
        if !job.hasMore { jobs.removeFirst() }
        return notification
    }

    /// Takes out the jobs of which nothing was reported yet, so that another worker may report them.
    mutating func takeUnreported() -> [JobInFlight] {
        var unreported: [JobInFlight] = []
        while let job = jobs.last, !job.isStarted {
            jobs.removeLast()
            unreported.append(job)
        }
        return unreported
    }

    /// The channel of the deliveries is gone: the broker delivers the jobs again. Publications that are under way still
    /// count until their fate is known.
    mutating func removeAll() { jobs.removeAll() }
}
