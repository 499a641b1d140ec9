internal import EventLoop
internal import Logging

// The lane's part of the journal: one write per turn, before the turn's results are published.
extension Lane {
    /// Writes what was accepted in this turn.
    func flushJournal() {
        guard let journal else { return }
        let event = journal.flush(now: now.nanoseconds)
        counters.journalRecords = journal.written
        switch event {
        case .off(let reason):
            logger.error(
                "the journal is off: after a crash more will be pushed twice",
                metadata: ["lane": "\(settings.index)", "error": "\(reason)"])
        case .on: logger.notice("the journal is on again", metadata: ["lane": "\(settings.index)"])
        case nil: break
        }
    }
}
