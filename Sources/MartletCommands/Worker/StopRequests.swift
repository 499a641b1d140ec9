/// What a worker makes of the signals that ask it to end.
///
/// One wish often comes as several signals: `timeout` and terminals signal the process and its whole group at once.
package struct StopRequests {
    /// What a signal is answered with.
    enum Step: Equatable {
        /// No more jobs are taken, and what is in flight is finished.
        case drain
        /// The process ends at once.
        case leave
        /// It repeats the one before.
        case nothing
    }

    /// How long after the first signal another one still says nothing new.
    package static let patience = Duration.seconds(1)

    private var first: ContinuousClock.Instant?

    /// Decides about a signal.
    ///
    /// - Parameter now: When it came.
    /// - Returns: What to do.
    mutating func next(at now: ContinuousClock.Instant) -> Step {
        guard let first else {
            first = now
            return .drain
        }
        return first.duration(to: now) < Self.patience ? .nothing : .leave
    }
}
