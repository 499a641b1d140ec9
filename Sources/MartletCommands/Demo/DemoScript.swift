/// Decides what the demo does next, from numbers and a time that is passed in.
struct DemoScript {
    /// What to do next.
    enum Step: Equatable {
        /// Nothing yet.
        case wait
        /// Half of the notifications are final: kill a worker and start another.
        case replaceWorker
        /// Every promised notification is final.
        case finish
        /// Nothing has moved for ``DemoScript/patience``: end anyway.
        case giveUp
    }

    /// How far the run is.
    struct Progress: Equatable, Sendable {
        /// Notifications that the broker confirmed to the producer.
        var promised = 0
        /// The promised notifications without a final outcome.
        var open = 0
        /// Notifications with a final outcome.
        var final = 0
    }

    /// How long the demo waits while no number changes.
    static let patience = Duration.seconds(60)

    private let expected: Int
    private var isPublished = false
    private var hasReplaced = false
    private var last = Progress()
    private var movedAt: ContinuousClock.Instant

    /// Makes a script.
    ///
    /// - Parameters:
    ///   - expected: How many notifications are expected; half of them final means that a worker is replaced.
    ///   - now: The present.
    init(expected: Int, now: ContinuousClock.Instant) {
        self.expected = expected
        movedAt = now
    }

    /// Notes that all producers are done: nothing more will be promised.
    mutating func published() { isPublished = true }

    /// Decides.
    ///
    /// - Parameters:
    ///   - progress: How far the run is.
    ///   - now: The present.
    /// - Returns: What to do. `replaceWorker` comes at most once.
    mutating func next(_ progress: Progress, now: ContinuousClock.Instant) -> Step {
        if progress != last {
            last = progress
            movedAt = now
        }
        // A producer that was refused promises less than was expected.
        let total = isPublished ? progress.promised : expected
        if !hasReplaced, progress.final > 0, progress.final * 2 >= total {
            hasReplaced = true
            return .replaceWorker
        }
        if isPublished, progress.open == 0 { return .finish }
        return movedAt.duration(to: now) >= Self.patience ? .giveUp : .wait
    }
}
