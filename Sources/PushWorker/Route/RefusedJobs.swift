import DequeModule
import PushModel

/// Jobs that are refused, oldest first. Their results wait here until they find their way out.
///
/// Each becomes one result per notification that could be read, so that every token's producer hears of it.
struct RefusedJobs {
    /// The most publications of refused jobs whose confirm a route awaits. Results of other routes queue behind these in
    /// the broker, so their number bounds what a campaign of refused jobs costs a neighbour.
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

    /// A publication was queued for a job, or a batch with some of its results.
    mutating func published(for job: JobInFlight, _ count: Int = 1) {
        if job.refusal != nil { unconfirmed += count }
    }

    /// The fate of a publication for a job is known, or of a batch with some of its results.
    mutating func confirmed(for job: JobInFlight, _ count: Int = 1) {
        if job.refusal != nil { unconfirmed -= count }
    }

    /// The next notification to report; nil where its result may not be queued now.
    mutating func next(_ publisher: Publisher, of route: Int) -> Notification? {
        guard let job = jobs.first, mayReport(publisher, of: route) else { return nil }
        if job.unsettled == 1 { jobs.removeFirst() }
        return Notification(job: job, index: job.nextIndex() ?? 0)
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

    /// The broker's channel is gone: the jobs come again. Publications that are under way still find their fate.
    mutating func removeAll() { jobs.removeAll() }
}
