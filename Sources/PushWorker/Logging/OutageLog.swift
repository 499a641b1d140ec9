import EventLoop
import Logging
import Text

/// Decides which failures of one thing the log tells at its usual level: the first one, those of another kind than the
/// one before, and one a minute. The end of an outage is told with its length.
///
/// Other failures are logged for debugging only. Kinds of failure are compared, not texts: a text may name the address
/// that was tried, and a host has several addresses. Pure: time comes in.
struct OutageLog {
    /// How often an outage that goes on is told again.
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

    /// The news about the thing.
    enum News: Equatable {
        /// It failed, for this reason; the log tells it at this level.
        case failed(String, Logger.Level)
        /// It works again.
        case works(Ended)
    }

    /// A length in words: whole seconds, or milliseconds below one second.
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
    ///   - kind: The kind of failure. A kind other than that of the last failure is news.
    ///   - level: The level of failures that are told.
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
    ///   - failure: The kind of the failure and its reason; nil if the thing works.
    ///   - now: The time.
    /// - Returns: The news; nil if the thing works and did before.
    mutating func note(failure: (kind: String, text: String)?, now: MonotonicTime) -> News? {
        guard let failure else { return works(now: now).map(News.works) }
        return .failed(failure.text, failed(failure.kind, now: now))
    }

    /// It works.
    ///
    /// - Returns: The outage that is over; nil without one.
    mutating func works(now: MonotonicTime) -> Ended? {
        defer { self = OutageLog() }
        return began.map { Ended(duration: max(now - $0, .zero), failures: failures) }
    }
}
