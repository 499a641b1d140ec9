/// Reads delivered messages as jobs.
package struct JobDecoder: Sendable {
    /// The largest body of a job, in bytes. Larger bodies are refused before they are buffered.
    package static let maximumBodyLength = 256 * 1_024

    /// A decoder; it keeps nothing between jobs.
    package init() {}

    /// Reads one message.
    ///
    /// - Parameters:
    ///   - message: The message; its buffer becomes the job's.
    ///   - now: Milliseconds since 1970, for an id made here.
    ///   - random: Gives 64 random bits at each call; called only when the job brings no id.
    /// - Returns: The job; or its first defect, with all that could be read.
    package func decode(
        _ message: consuming JobMessage, now: Int64, random: () -> UInt64
    ) -> Result<Job, JobDefect> {
        var reader = JobReader(message)
        reader.read(now: now, random: random)
        guard let defect = reader.defect else { return .success(reader.job) }
        return .failure(JobDefect(reason: defect.reason, detail: defect.detail, job: reader.job))
    }

    /// Refuses a message for a reason that only its receiver knows: its queue, or a body or headers over a limit. Reads
    /// the rest for the result.
    ///
    /// - Parameters:
    ///   - message: The message, without the parts that were not buffered.
    ///   - reason: Why the message is refused. It replaces any other defect.
    ///   - detail: A sentence a person can act on.
    ///   - now: Milliseconds since 1970, for an id made here.
    ///   - random: Gives 64 random bits at each call; called only when the job brings no id.
    package func refuse(
        _ message: consuming JobMessage, _ reason: Reason, _ detail: String, now: Int64, random: () -> UInt64
    ) -> JobDefect {
        var reader = JobReader(message)
        reader.read(now: now, random: random)
        return JobDefect(reason: reason, detail: detail, job: reader.job)
    }

    /// Refuses a message as `refuse` does, without reading its body. The body is kept for the dead letter.
    package func refuseUnread(
        _ message: consuming JobMessage, _ reason: Reason, _ detail: String, now: Int64, random: () -> UInt64
    ) -> JobDefect {
        let body = message.body
        message.body = body.lowerBound..<body.lowerBound
        var defect = refuse(message, reason, detail, now: now, random: random)
        defect.job.body = body
        defect.job.isUnread = true
        return defect
    }
}
