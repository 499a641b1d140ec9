import PushModel
import Text

/// The journal's record of one notification that APNs accepted. It holds a hash and times, but no device token and no
/// payload.
struct JournalRecord: Equatable {
    /// How many bytes a record has in a file.
    static var length: Int { 32 }
    /// Stands for an unknown time in `apnsMilliseconds`.
    private static var untimed: UInt32 { .max }

    /// The hash by which a redelivery of the notification is recognised, see `Notification.journalKey`.
    var key: UUIDBytes
    /// When APNs accepted the notification, in milliseconds since 1970.
    var finishedAt: Int64
    /// The time from the request to its answer, in milliseconds; nil where it is unknown.
    var apnsMilliseconds: Int64?

    /// Appends the record to the bytes of a file.
    func append(to bytes: inout [UInt8]) {
        let time = apnsMilliseconds.map { UInt32(clamping: min($0, Int64(Self.untimed) - 1)) } ?? Self.untimed
        var words: InlineArray<4, UInt64> = [key.high, key.low, UInt64(bitPattern: finishedAt), UInt64(time)]
        words[3] |= Self.checksum(words) << 32
        for index in words.indices {
            withUnsafeBytes(of: words[index].littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// Reads a record; nil if the bytes are not one, for instance because the machine died while they were written.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        let time = UInt32(truncatingIfNeeded: word(3))
        let words: InlineArray<4, UInt64> = [word(0), word(1), word(2), UInt64(time)]
        guard word(3) >> 32 == Self.checksum(words) else { return nil }
        key = UUIDBytes(high: words[0], low: words[1])
        finishedAt = Int64(bitPattern: words[2])
        apnsMilliseconds = time == Self.untimed ? nil : Int64(time)
    }

    /// A record from its parts.
    init(key: UUIDBytes, finishedAt: Int64, apnsMilliseconds: Int64?) {
        self.key = key
        self.finishedAt = finishedAt
        self.apnsMilliseconds = apnsMilliseconds
    }

    /// A checksum of 32 bits over the words. The version of the record's form is part of it, so records of another form
    /// are not read.
    private static func checksum(_ words: InlineArray<4, UInt64>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ 2
        for index in words.indices {
            hash = (hash ^ words[index]) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        return hash >> 32
    }
}
