import Testing

@testable import PushModel

@Suite("Positions of a multicast job", .timeLimit(.minutes(1)))
struct IndexRangesTests {
    @Test(
        "the text form is compact",
        arguments: [
            ([0], "0"), ([0, 1], "0-1"), ([0, 1, 2, 3, 4, 7], "0-4,7"), ([1, 3, 5], "1,3,5"), ([998, 999], "998-999"),
            ([2, 2, 3], "2-3"), (Array(0..<1000), "0-999"), ([], ""),
        ])
    func written(_ positions: [Int], _ expected: String) {
        var buffer: [UInt8] = []
        IndexRanges(positions).append(to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
    }

    @Test("what was written is read back", arguments: ["0", "0-1", "0-4,7", "1,3,5", "998-999", "0-999", "5,7-9,11"])
    func read(_ text: String) throws {
        let ranges = try #require(IndexRanges.parse(text, limit: 1000))
        var buffer: [UInt8] = []
        ranges.append(to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == text)
    }

    @Test("neighbours written apart are the same positions")
    func touching() {
        #expect(IndexRanges.parse("0,1,2-3", limit: 4) == IndexRanges(0...3))
    }

    @Test(
        "other texts are refused",
        arguments: [
            "", ",", "0,", ",0", "-", "0-", "-1", "1-0", "3,2", "1,1", "0-4,4", "0-4,3-5", "10", "0-10", "a", "0 ,1",
            "0--1", "99999999999999999999", "1234567", "0x1", "0.1",
        ])
    func refused(_ text: String) {
        #expect(IndexRanges.parse(text, limit: 10) == nil)
    }

    @Test("positions can be walked and counted without an array")
    func walked() {
        let some = IndexRanges([1, 2, 5])
        var seen: [Int] = []
        var position = 0
        while let next = some.next(from: position, of: 10) {
            seen.append(next)
            position = next + 1
        }
        #expect(seen == [1, 2, 5])
        #expect(some.count(of: 10) == 3)
        #expect(some.contains(2) && !some.contains(3) && !some.isAll)
        #expect(IndexRanges.all.isAll && IndexRanges.all.count(of: 10) == 10 && IndexRanges.all.contains(9))
        #expect(IndexRanges.all.next(from: 9, of: 10) == 9)
        #expect(IndexRanges.all.next(from: 10, of: 10) == nil)
    }
}

// A span cannot be an argument within #expect, so the function under test gets a twin that takes text.
extension IndexRanges {
    fileprivate static func parse(_ text: String, limit: Int) -> IndexRanges? { parse(text.bytes.span, limit: limit) }
}
