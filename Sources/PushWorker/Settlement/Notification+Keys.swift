import PushModel
import TLS
import Text

// The keys by which a notification and its device token are recognised.
extension Notification {
    /// The journal's key for the notification: the mark of its message, and a hash of attempt, index, device token, id
    /// and the producer's time. Nil for a notification that must not be recognised.
    ///
    /// The device token and the producer's time are part of the key, because producers may reuse ids.
    var journalKey: UUIDBytes? {
        // A replayed dead letter is to be pushed, even if this worker pushed the job before.
        guard !job.job.generatedID, job.job.replay == nil, job.refusal == nil, job.job.operation == .push else {
            return nil
        }
        let bytes = job.job.bytes
        var hash = SHA1()
        hash.update(.contractNamespace)
        for number in [job.job.attempt, index, Int(job.job.enqueuedAt ?? 0)] {
            hash.update(decimal: number)
            hash.update(UInt8(ascii: "/"))
        }
        hash.update(bytes.span.extracting(job.job.deviceToken(index)))
        hash.update(UInt8(ascii: "/"))
        hash.update(bytes.span.extracting(job.job.jobID))
        return UUIDBytes(high: job.journalMark, low: UUIDBytes(v5: hash).low)
    }

    /// The key of its device token among the tokens that are cooling.
    var coolingKey: Int {
        let bytes = job.job.bytes
        return CoolingTokens.key(bytes.span.extracting(job.job.deviceToken(index)))
    }
}
