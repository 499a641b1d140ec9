import EventLoop

// The lane's part of the journal. Notes are handed over before the turn's results are published, because the results
// wait for them.
extension Lane {
    /// A journal of the lane, whose thread wakes the loop when notes were written.
    func makeJournal(_ journal: Journal) -> JournalWriter {
        JournalWriter(directory: journal.directory) { [wakeup = loop.wakeup] in wakeup.wake() }
    }

    /// Hands over the notes of this turn, and looks which notes were written.
    func flushJournal() {
        guard let journal else { return }
        let event = journal.flush(now: now)
        counters.journalRecords = journal.written
        counters.journalDropped = journal.dropped
        counters.journalLate = journal.late
        if let event { log.journalChanged(event) }
    }
}
