import Testing
import Text

@Suite("Base64", .timeLimit(.minutes(1)))
struct Base64Tests {
    @Test(
        "for URLs has no padding",
        arguments: [
            ([], ""), ([0xFB], "-w"), ([0xFB, 0xFF], "-_8"), ([0xFB, 0xFF, 0xBF], "-_-_"),
            (Array("fooba".utf8), "Zm9vYmE"),
        ] as [([UInt8], String)])
    func encodes(bytes: [UInt8], expected: String) {
        #expect(Base64.url.text(bytes) == expected)
    }

    @Test(
        "of the usual alphabet has padding",
        arguments: [
            ([], ""), ([0xFB], "+w=="), ([0xFB, 0xFF], "+/8="), ([0xFB, 0xFF, 0xBF], "+/+/"),
            (Array("fooba".utf8), "Zm9vYmE="),
        ] as [([UInt8], String)])
    func encodesWithPadding(bytes: [UInt8], expected: String) {
        #expect(Base64.standard.text(bytes) == expected)
        #expect(Base64.standard.decode(Array(expected.utf8)[...]) == bytes)
    }

    @Test("is read back as written")
    func roundTrip() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            #expect(Base64.url.decode(Array(Base64.url.text(bytes).utf8)[...]) == bytes)
        }
    }

    @Test("is read with padding, too", arguments: ["YQ", "YQ=", "YQ=="])
    func padding(_ text: String) {
        #expect(Base64.url.decode(Array(text.utf8)[...]) == Array("a".utf8))
    }

    @Test("of another alphabet or an impossible length is refused", arguments: ["A", "A+", "A/", "A B", "é", "Y=Q"])
    func refused(_ text: String) {
        #expect(Base64.url.decode(Array(text.utf8)[...]) == nil)
    }
}
