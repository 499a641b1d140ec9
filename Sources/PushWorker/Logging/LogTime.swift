import PushModel
import Text

/// A moment as log lines write it: UTC, with milliseconds.
///
/// [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)
struct LogTime {
    /// Milliseconds since 1970.
    let milliseconds: Int64

    /// `2026-11-21T12:00:00.123Z`.
    var full: String { DateTime.write(milliseconds, withMilliseconds: true) }

    /// `2026-11-21 12:00:00 UTC`, for sentences.
    var toTheSecond: String { "\(full.prefix(10)) \(clock.prefix(8)) UTC" }

    /// `12:00:00.123`.
    var clock: String { String(full.dropLast().suffix(12)) }
}
