import DequeModule

/// Publications whose notes the journal has not written yet, in the order of the notes. They go out a moment later, and
/// there are at most as many as the prefetch allows. So pushes go on meanwhile.
struct UnnotedPublications {
    private var waiting = Deque<Publication>()
    private let isNoted: (UInt64) -> Bool

    /// Starts without publications.
    ///
    /// - Parameter isNoted: Whether a publication no longer has to wait for the journal's note of this number.
    init(isNoted: @escaping (UInt64) -> Bool) { self.isNoted = isNoted }

    /// How many wait.
    var count: Int { waiting.count }

    /// Keeps a publication whose note is not written yet.
    ///
    /// - Returns: False if it has no note, or if its note is written. The publication can go out.
    mutating func takes(_ publication: Publication) -> Bool {
        guard let note = publication.note, !isNoted(note) else { return false }
        waiting.append(publication)
        return true
    }

    /// Takes out the first publication, if its note is written.
    mutating func next() -> Publication? {
        guard let note = waiting.first?.note, isNoted(note) else { return nil }
        return waiting.removeFirst()
    }
}
