import EventLoop
import PushModel
import TraceExport
import WorkerSettings

/// What a route needs from its lane.
struct RouteSurroundings {
    /// Decides what each answer leads to.
    let policy: RetryPolicy
    /// Publishes results, replies, retry copies and dead letters.
    let publisher: Publisher
    /// Which `reply_to` are allowed.
    let replyPattern: ReplyPattern
    /// The exchanges that may lead jobs to the worker, beside ours.
    var jobsFrom: [String] = []
    /// Where accepted notifications are noted; nil without a journal.
    var journal: JournalWriter?
    /// What an earlier process noted; nil without a journal.
    var earlier: Journal?
    /// Where spans of notifications go; nil where no collector is configured.
    var spans: SpanQueue?
    /// Randomness for waits and for ids.
    var random = Randomness()
    /// How many results of the route the configuration wants in a message.
    var resultsBatch = 1
    /// The worker's memory for jobs.
    var memory = SharedMemoryBudget()
    /// Gives a destination of the route connections.
    var open: (Route, Destination) -> Void = { _, _ in }
}
