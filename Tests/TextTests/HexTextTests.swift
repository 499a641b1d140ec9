import Testing
import Text

@Suite("Hexadecimal digits", .timeLimit(.minutes(1)))
struct HexTextTests {
    @Test("of each byte are two of lower case, and are read back in either case")
    func roundTrip() {
        for byte in UInt8.min...UInt8.max {
            let text = HexText.text([byte])
            let digits = String(byte, radix: 16)
            #expect(text == (byte < 16 ? "0\(digits)" : digits))
            #expect(HexText.bytes(Array(text.utf8)[...]) == [byte])
            #expect(HexText.bytes(Array(text.uppercased().utf8)[...]) == [byte])
        }
        #expect(HexText.text([0x00, 0xFC, 0x13]) == "00fc13")
        #expect(HexText.text([]) == "")
        #expect(HexText.text(UInt64(0xfc13)) == "000000000000fc13")
    }

    @Test("are told from all other bytes")
    func digits() {
        let known = Set("0123456789abcdefABCDEF".utf8)
        for byte in UInt8.min...UInt8.max { #expect(HexText.isHex([byte]) == known.contains(byte)) }
        #expect(HexText.isHex([]))
        #expect(!HexText.isHex("00fg".utf8))
    }

    @Test("of an odd number, and other text, are not bytes", arguments: ["0", "012", "0g", "g0", "0 ", "é0"])
    func refused(_ text: String) {
        #expect(HexText.bytes(Array(text.utf8)[...]) == nil)
    }
}
