import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(1)))
struct HeaderBlockTests {
    @Test("Truncating to a mark keeps the fields before it and drops those after it")
    func truncation() {
        var block = HeaderBlock()
        block.append(":method", "POST")
        let mark = block.mark
        block.beginValue(":path")
        block.appendPiece("/3/device/")
        block.appendPiece([0x61, 0x62].span)
        block.endValue()
        #expect(block.count == 2)
        #expect(block.bytes == Array("/3/device/ab".utf8))
        block.truncate(to: mark)
        #expect(block.count == 1)
        #expect(block.bytes.isEmpty)
    }
}
