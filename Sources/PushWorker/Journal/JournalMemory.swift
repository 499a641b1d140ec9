import PushModel
import Text

/// The records of earlier processes about notifications that the broker may deliver again. Pure.
struct JournalMemory {
    /// How many records are remembered: the latest ones, in less than three mebibytes.
    static var capacity: Int { 65_536 }
    /// For how many milliseconds a record is remembered: twice as long as a broker waits for an acknowledgement by
    /// default.
    static var lifetime: Int64 { 3_600_000 }

    /// Sorted by key. A used record gets the earliest time there is, which is never fresh.
    private var records: [JournalRecord]

    /// Remembers the records that are not too old, and no more than the capacity.
    init(_ records: [JournalRecord], now: Int64) {
        let fresh = records.filter { Self.isFresh($0, now: now) }.sorted { $0.finishedAt > $1.finishedAt }
        self.records = fresh.prefix(Self.capacity).sorted { Self.isBefore($0.key, $1.key) }
    }

    /// How many records are remembered, with the used ones.
    var count: Int { records.count }

    /// The record of a notification; nil without a fresh one. The record is used up, because it stands for one
    /// notification.
    mutating func take(_ key: UUIDBytes, now: Int64) -> JournalRecord? {
        var position = position(of: key)
        while position < records.count, records[position].key == key {
            let record = records[position]
            records[position].finishedAt = .min
            if Self.isFresh(record, now: now) { return record }
            position += 1
        }
        return nil
    }

    /// Whether a fresh record of the message with this mark is remembered, and is not used up.
    func knows(_ mark: UInt64, now: Int64) -> Bool {
        records[position(of: UUIDBytes(high: mark, low: 0))...].prefix { $0.key.high == mark }
            .contains { Self.isFresh($0, now: now) }
    }

    /// The position of the first record whose key is not before this one.
    private func position(of key: UUIDBytes) -> Int {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(records[middle].key, key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a record is young enough to be believed. Its time may be in the future, because the clock was set since.
    /// It may then be as far ahead as an old record may be behind.
    static func isFresh(_ record: JournalRecord, now: Int64) -> Bool {
        let (age, overflows) = now.subtractingReportingOverflow(record.finishedAt)
        return !overflows && (-lifetime...lifetime).contains(age)
    }

    private static func isBefore(_ one: UUIDBytes, _ other: UUIDBytes) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }
}
