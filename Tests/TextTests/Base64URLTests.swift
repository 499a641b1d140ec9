import Testing
import Text

@Suite("Base64 for URLs", .timeLimit(.minutes(1)))
struct Base64URLTests {
    @Test(
        "has no padding",
        arguments: [
            ([], ""), ([0xFB], "-w"), ([0xFB, 0xFF], "-_8"), ([0xFB, 0xFF, 0xBF], "-_-_"),
            (Array("fooba".utf8), "Zm9vYmE"),
        ] as [([UInt8], String)])
    func encodes(bytes: [UInt8], expected: String) {
        #expect(Self.encoded(bytes) == Array(expected.utf8))
    }

    @Test("is read back as written")
    func roundTrip() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            #expect(Base64URL.decode(Self.encoded(bytes)[...]) == bytes)
        }
    }

    @Test("is read with padding, too", arguments: ["YQ", "YQ=", "YQ=="])
    func padding(_ text: String) {
        #expect(Base64URL.decode(Array(text.utf8)[...]) == Array("a".utf8))
    }

    @Test("of another alphabet or an impossible length is refused", arguments: ["A", "A+", "A/", "A B", "é", "Y=Q"])
    func refused(_ text: String) {
        #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
    }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        Base64URL.append(bytes, to: &output)
        return output
    }
}
