import EventLoop

/// Decides how long the results of accepted notifications wait for their notes to be written. Pure: time comes in.
///
/// Nothing but duplicates depends on the journal, so a disk that hangs must not hold results up. After `usual` without
/// progress, results stop waiting, until all notes taken by then are written or lost.
struct JournalPatience {
    /// For how long there must be no progress before results stop waiting: a few times as long as a busy disk takes,
    /// and short beside a slow confirm of a broker.
    static let usual = Duration.milliseconds(250)

    /// How many notes were taken so far, which is the number of the last note.
    private(set) var noted: UInt64 = 0
    /// How many results did not wait for their notes.
    private(set) var late = 0
    /// The number of the last note that was written or lost.
    private var handled: UInt64 = 0
    /// Since when notes wait without progress.
    private var since: MonotonicTime?
    /// The number of the note with which the disk has caught up; nil while results wait.
    private var goal: UInt64?

    /// Numbers a note.
    ///
    /// - Returns: The number that its result waits for.
    mutating func note() -> UInt64 {
        noted += 1
        if goal != nil { late += 1 }
        return noted
    }

    /// Follows what became of the notes, once per turn.
    ///
    /// - Parameters:
    ///   - handled: The number of the last note that was written or lost.
    ///   - now: The time.
    mutating func follow(handled: UInt64, now: MonotonicTime) {
        let hasMoved = handled > self.handled
        self.handled = handled
        if let goal, handled >= goal { self.goal = nil }
        guard handled < noted else {
            since = nil
            return
        }
        let start = hasMoved ? now : since ?? now
        since = start
        guard goal == nil, now >= start + Self.usual else { return }
        goal = noted
        late += Int(noted - handled)
    }

    /// Whether the result of a notification may be published.
    ///
    /// - Parameter note: The number of its note.
    func mayPublish(_ note: UInt64) -> Bool { note <= handled || goal != nil }

    /// When `follow(handled:now:)` has something to do only because time passed.
    var due: MonotonicTime? { goal == nil ? since.map { $0 + Self.usual } : nil }
}
