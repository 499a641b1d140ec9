import PushModel
import Text

/// The key by which a redelivery of a job is recognised.
///
/// The key holds more than id, attempt and index, because producers may reuse ids. A message with another body, device
/// or time of publishing is another job. So is a copy about other notifications of the same multicast job.
struct RedeliveryKey: Hashable {
    /// The `message_id` of the result of the first notification, which stands for job id, attempt and index.
    var resultID: UUIDBytes
    /// A hash of the body, the first device token, the indexes, the producer's time, the operation and the id of a
    /// broadcast channel. Valid in this process only.
    var content: Int
    /// How many notifications the message is about.
    var notifications: Int
    /// The length of the body in bytes, which is known without reading the body.
    var bodyLength: Int
}

extension JobInFlight {
    /// The key by which a redelivery of the job is recognised; nil for a job that cannot or must not be recognised.
    var redeliveryKey: RedeliveryKey? {
        if let knownKey { return knownKey }
        // A replayed dead letter is to be pushed, even if this worker pushed the job before.
        guard !job.generatedID, job.replay == nil, refusal == nil, job.targetCount > 0,
            let first = job.nextIndex(from: 0)
        else { return nil }
        var content = Hasher()
        job.bytes.withUnsafeBytes { bytes in
            content.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[job.body]))
            content.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[job.deviceToken(0)]))
        }
        // Two copies of one multicast job may begin with the same index and differ in the others.
        content.combine(job.indexes)
        content.combine(job.enqueuedAt)
        content.combine(job.operation)
        if let channelID = job.channelID { for byte in job.bytes[channelID] { content.combine(byte) } }
        knownKey = RedeliveryKey(
            resultID: resultID ?? ResultReport.messageID(of: first, for: job), content: content.finalize(),
            notifications: job.notificationCount, bodyLength: job.body.count)
        return knownKey
    }

    /// Whether this job is the first of two copies of one message, and `copy` the second.
    ///
    /// False when this job is itself retried unchanged: the copy may be that retry, and the only one left.
    func isFirst(of copy: JobInFlight, _ key: RedeliveryKey) -> Bool {
        // A quick look before keys are compared.
        let (bytes, others) = (job.bytes, copy.job.bytes)
        guard !comesBackUnchanged, job.attempt == copy.job.attempt,
            bytes.span.extracting(job.jobID).isEqual(to: others.span.extracting(copy.job.jobID))
        else { return false }
        return redeliveryKey == key
    }

    /// Notes the `message_id` of a result, if it is the one that identifies a redelivery.
    func noteResult(_ id: UUIDBytes, of index: Int) {
        if index == 0 || index == job.nextIndex(from: 0) { resultID = id }
    }
}
