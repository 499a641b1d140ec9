/// Decides what a worker does about the signals that ask it to end.
///
/// One request often comes as several signals: `timeout` and terminals signal the process and its whole group at once.
package struct StopRequests {
    /// The answer to a signal.
    enum Step: Equatable {
        /// No more jobs are taken, and what is in flight is finished.
        case drain
        /// The process ends at once.
        case leave
        /// Nothing: the signal repeats the first one.
        case nothing
    }

    /// A further signal within this time after the first one is a repetition.
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
