import Text

/// Lines of the journal that are in memory only: the events since the file was last written.
///
/// A value without lock or file.
struct UnwrittenLines: Sendable {
    /// How much may wait to be written, in bytes. Beyond the limit the lines are written at once. If that fails, they
    /// are dropped, and the whole file has to be written again.
    static let limit = 4 << 20

    private var bytes: [UInt8] = []

    /// How many bytes wait.
    var count: Int { bytes.count }

    /// Whether nothing waits.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether more bytes wait than ``limit``.
    var isOverLimit: Bool { bytes.count > Self.limit }

    /// Adds a line about an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - uniqueID: The notification it happened to.
    ///   - story: The story it begins; nil where it is not the first event.
    mutating func append(_ event: DeliveryLog.Event, of uniqueID: UUIDBytes, beginning story: DeliveryLog.Entry?) {
        JournalLine.append(event, of: uniqueID, beginning: story, to: &bytes)
    }

    /// Hands all lines out to be written. No line waits then.
    mutating func take() -> [UInt8] {
        let taken = bytes
        bytes = []
        return taken
    }

    /// Puts lines back that could not be written, before the lines that have come since.
    ///
    /// - Parameter taken: The lines.
    /// - Returns: False where all lines together would exceed ``limit``. The lines that were taken are then lost.
    mutating func putBack(_ taken: [UInt8]) -> Bool {
        guard taken.count + bytes.count <= Self.limit else { return false }
        bytes = taken + bytes
        return true
    }

    /// Drops the oldest lines, because the file has what they say.
    ///
    /// - Parameter count: How many bytes they have.
    mutating func dropFirst(_ count: Int) { bytes.removeFirst(count) }

    /// Drops all lines, because the file will be written from what is in memory.
    mutating func dropAll() { bytes = [] }
}
