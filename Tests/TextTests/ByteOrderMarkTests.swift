import Testing
import Text

@Suite("Beginnings of texts", .timeLimit(.minutes(1)))
struct ByteOrderMarkTests {
    @Test(
        "a mark of UTF-8 is counted, UTF-16 and UTF-32 are known by mark or zero bytes, and all else begins at once",
        arguments: [
            ([], 0), ([0x61], 0), ([0xEF], 0), ([0xEF, 0xBB], 0), (Array("ab".utf8), 0), (Array("é".utf8), 0),
            ([0xEF, 0xBB, 0xBF], 3), ([0xEF, 0xBB, 0xBF, 0x7B], 3), ([0xEF, 0xBB, 0x41], 0),
            ([0xFF, 0xFE], nil), ([0xFE, 0xFF, 0, 0x61], nil), ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], nil),
            ([0, 0, 0xFE, 0xFF], nil), ([0x7B, 0], nil), ([0, 0x7B], nil), ([0, 0, 0, 0x7B], 0),
            ([0xFF, 0, 0x80], 0), ([0, 0x80], 0),
        ] as [([UInt8], Int?)])
    func lengths(bytes: [UInt8], length: Int?) {
        #expect(ByteOrderMark.length(before: bytes.span) == length)
    }

    @Test("a blank at the end of a password is named, and nothing else of it")
    func blanks() {
        for text in ["a ", "a\t", "a\u{A0}", " "] { #expect(TrailingBlank.hint(Array(text.utf8)) != nil) }
        for text in ["", "a", " a", "a b", "à", "a\n"] { #expect(TrailingBlank.hint(Array(text.utf8)) == nil) }
        #expect(TrailingBlank.hint(nil) == nil)
    }
}
