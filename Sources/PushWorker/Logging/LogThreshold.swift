package import Logging
import Synchronization

/// The least level that the loggers of a process write. It may change while they log. Safe on any thread.
package final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases

    /// The level's place in ``levels``.
    private let place: Atomic<Int>

    /// Starts with a level.
    init(_ level: Logger.Level) { place = Atomic(Self.place(of: level)) }

    /// The least level that is written.
    package var level: Logger.Level { Self.levels[place.load(ordering: .relaxed)] }

    /// Sets the level for every logger that was not given one of its own.
    package func set(_ level: Logger.Level) { place.store(Self.place(of: level), ordering: .relaxed) }

    private static func place(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
