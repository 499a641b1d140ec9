import PushModel

/// What became of one notification, with all facts for its result.
///
/// It is kept until the broker has confirmed the result. So the same message, with the same id, can be written again
/// after a lost connection.
struct ResultContent {
    /// Outcome, action, status, reason and detail.
    var report: FinalReport
    /// Apple's id for the delivery log, in the development environment.
    var apnsUniqueID: [UInt8]?
    /// The answer to an operation on broadcast channels.
    var broadcastChannel: BroadcastChannelAnswer?
    /// Milliseconds since 1970 when the outcome was decided.
    var finishedAt: Int64
    /// Milliseconds from the request to its answer; nil when there was no answer.
    var apnsMilliseconds: Int64?
    /// Whether an earlier process pushed it, and this one did not.
    var isSuppressed = false
}
