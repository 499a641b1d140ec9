import EventLoop
import PushModel

// What a route notes in the journal, and what it finds there.
extension Route {
    /// Notes that APNs accepted a notification.
    ///
    /// - Returns: The number of the note that the result waits for; nil if nothing is noted.
    func journal(_ notification: Notification, finishedAt: Int64, apnsMilliseconds: Int64?) -> UInt64? {
        guard let journal = surroundings.journal, let key = notification.journalKey else { return nil }
        return journal.append(JournalRecord(key: key, finishedAt: finishedAt, apnsMilliseconds: apnsMilliseconds))
    }

    /// Settles a notification of a redelivered job that an earlier process of this worker pushed. Its result is
    /// published once more, as the same message, because the broker may not have taken the first one.
    ///
    /// - Returns: Whether the journal knew it.
    func isJournalled(_ notification: Notification, at moment: Moment) -> Bool {
        guard let earlier = surroundings.earlier, let key = notification.journalKey,
            let record = earlier.take(key, now: moment.wall)
        else { return false }
        counters.duplicatesSuppressed += 1
        report(
            notification, FinalReport(.accepted, .none, status: 200), at: moment,
            finishedAt: record.finishedAt, apnsMilliseconds: record.apnsMilliseconds, isSuppressed: true)
        return true
    }
}

extension Notification {
    /// The journal's key for the notification: the mark of its message, and a hash of attempt, index, device token, id
    /// and the producer's time. Nil for a notification that must not be recognised.
    ///
    /// Token and time are part of the key, because producers may reuse ids.
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
}
