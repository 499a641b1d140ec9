import EventLoop
import Logging
import Text

/// Decides which failures of one thing the log tells at its usual level: the first, those for another reason, and one a
/// minute. The end of the trouble is told with its length.
///
/// Failures in between are of interest to debuggers only. Kinds of failure are compared and not texts, because a text may
/// name the address that was tried, and a host has several. Pure: time comes in.
struct OutageLog {
    /// How often an outage is recalled.
    static let reminderInterval = Duration.seconds(60)

    /// An outage that is over.
    struct Ended: Equatable {
        /// How long it took.
        var duration: Duration
        /// How many failures there were.
        var failures: Int

        /// The outage in words, such as `after 21s and 5 failures`.
        var text: String {
            "after \(OutageLog.length(of: duration)) and \(failures) failure\(failures == 1 ? "" : "s")"
        }
    }

    /// What there is to tell.
    enum News: Equatable {
        /// It failed, for this reason; the log tells it at this level.
        case failed(String, Logger.Level)
        /// It works again.
        case works(Ended)
    }

    /// A length in words: whole seconds, milliseconds below one.
    static func length(of duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        return DurationText.write(.milliseconds(milliseconds < 1_000 ? milliseconds : milliseconds / 1_000 * 1_000))
    }

    private var began: MonotonicTime?
    private var failures = 0
    private var kind = ""
    private var toldAt = MonotonicTime(nanoseconds: 0)

    /// It failed.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure. Another kind than that of the last failure is news.
    ///   - level: The level of what is told.
    ///   - now: The time.
    /// - Returns: The level for this failure.
    mutating func failed(_ kind: String, level: Logger.Level = .warning, now: MonotonicTime) -> Logger.Level {
        let isNews = began == nil || kind != self.kind || now >= toldAt + Self.reminderInterval
        began = began ?? now
        failures += 1
        self.kind = kind
        guard isNews else { return .debug }
        toldAt = now
        return level
    }

    /// It failed, or it works.
    ///
    /// - Parameters:
    ///   - failure: Why it failed, and the kind of that; nil where it works.
    ///   - now: The time.
    /// - Returns: What there is to tell; nil where it works and did before.
    mutating func note(failure: (kind: String, text: String)?, now: MonotonicTime) -> News? {
        guard let failure else { return works(now: now).map(News.works) }
        return .failed(failure.text, failed(failure.kind, now: now))
    }

    /// It works.
    ///
    /// - Returns: The outage that is over; nil without one.
    mutating func works(now: MonotonicTime) -> Ended? {
        defer { self = OutageLog() }
        return began.map { Ended(duration: now - $0, failures: failures) }
    }
}
