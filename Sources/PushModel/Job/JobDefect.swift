/// Why a job is `invalid`, with all that could be read of it, so that a result can be written.
package struct JobDefect: Error, Sendable {
    /// The reason as results spell it.
    package var reason: Reason
    /// A sentence a person can act on; never holds a device token or payload.
    package var detail: String
    /// The job as far as it was read. It always has an id, but may have no topic, environment or token.
    ///
    /// If its tokens could be read, there is a result for each notification that it is about; else one with index 0.
    package var job: Job

    /// What the result says.
    ///
    /// Nobody can know whether a job that came back often did harm. So its producer has nothing to correct.
    package var report: FinalReport {
        guard reason != .poison else { return FinalReport(.exhausted, .replay, reason: reason, detail: detail) }
        return FinalReport(.invalid, .fixRequest, reason: reason, detail: detail)
    }
}
