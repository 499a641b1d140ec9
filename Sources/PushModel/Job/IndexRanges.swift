/// Which notifications of a job are meant: all, or those at some positions. The text form is compact, as in `0-4,7`.
package struct IndexRanges: Sendable, Hashable {
    /// Ascending, disjoint and not touching; nil means all.
    private var ranges: [ClosedRange<Int>]?

    /// Every position.
    package static let all = IndexRanges(ranges: nil)

    private init(ranges: [ClosedRange<Int>]?) {
        self.ranges = ranges
    }

    /// The given positions.
    ///
    /// - Parameter positions: Ascending positions from 0; repeated ones count once.
    package init(_ positions: some Sequence<Int>) {
        var ranges: [ClosedRange<Int>] = []
        for position in positions {
            if let last = ranges.last, position <= last.upperBound + 1 {
                precondition(position >= last.lowerBound, "positions must ascend")
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, position)
            } else {
                ranges.append(position...position)
            }
        }
        self.ranges = ranges
    }

    /// Reads the text form; nil when it is malformed, does not ascend, or names a position at or beyond `limit`.
    ///
    /// - Parameters:
    ///   - text: For example `0-4,7`.
    ///   - limit: How many positions there are.
    package static func parse(_ text: Span<UInt8>, limit: Int) -> IndexRanges? {
        var ranges: [ClosedRange<Int>] = []
        var offset = 0
        repeat {
            guard let first = number(in: text, at: &offset) else { return nil }
            var last = first
            if offset < text.count, text[offset] == UInt8(ascii: "-") {
                offset += 1
                guard let end = number(in: text, at: &offset) else { return nil }
                last = end
            }
            let floor = ranges.last.map { $0.upperBound + 1 } ?? 0
            guard first >= floor, last >= first, last < limit else { return nil }
            if let previous = ranges.last, previous.upperBound + 1 == first {
                ranges[ranges.count - 1] = previous.lowerBound...last
            } else {
                ranges.append(first...last)
            }
            guard offset < text.count else { return IndexRanges(ranges: ranges) }
            guard text[offset] == UInt8(ascii: ",") else { return nil }
            offset += 1
        } while true
    }

    /// One decimal number of at most six digits.
    private static func number(in text: Span<UInt8>, at offset: inout Int) -> Int? {
        var value = 0
        let start = offset
        while offset < text.count, offset - start < 6 {
            let digit = text[offset] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            value = value * 10 + Int(digit)
            offset += 1
        }
        return offset > start ? value : nil
    }

    /// Appends the text form.
    ///
    /// - Precondition: Not `all`. A message that is about all positions has no such header.
    package func append(to buffer: inout [UInt8]) {
        precondition(ranges != nil, "all positions have no text form")
        var isFirst = true
        for range in ranges ?? [] {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            buffer.append(decimal: Int64(range.lowerBound))
            guard range.count > 1 else { continue }
            buffer.append(UInt8(ascii: "-"))
            buffer.append(decimal: Int64(range.upperBound))
        }
    }

    /// Whether every position is meant.
    package var isAll: Bool { ranges == nil }

    /// How many positions are meant.
    ///
    /// - Parameter total: How many there are.
    package func count(of total: Int) -> Int {
        guard let ranges else { return total }
        return ranges.reduce(0) { $0 + $1.count }
    }

    /// Whether a position is meant.
    package func contains(_ position: Int) -> Bool {
        guard let ranges else { return true }
        return ranges.contains { $0.contains(position) }
    }

    /// The first meant position at or after `position`; nil without such a position. Callers go through the meant
    /// positions with this, without an array.
    ///
    /// - Parameters:
    ///   - position: Where to begin.
    ///   - total: How many positions there are.
    package func next(from position: Int, of total: Int) -> Int? {
        guard let ranges else { return position < total ? position : nil }
        for range in ranges where range.upperBound >= position {
            let next = max(range.lowerBound, position)
            return next < total ? next : nil
        }
        return nil
    }
}
