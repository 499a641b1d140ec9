import Testing
import Text

@Suite("Percent-encoding", .timeLimit(.minutes(1)))
struct PercentTextTests {
    @Test(
        "escapes all but unreserved characters, and is undone",
        arguments: [
            ("", ""), ("/", "%2F"), ("a-b._~c d%23é\n", "a-b._~c%20d%2523%C3%A9%0A"), ("AZaz09", "AZaz09"),
            ("\u{0}", "%00"),
        ])
    func roundTrip(_ text: String, _ encoded: String) {
        #expect(PercentText.encode(text) == encoded)
        #expect(PercentText.decode(Array(encoded.utf8)[...]) == Array(text.utf8))
    }

    @Test("is undone in either case, and other bytes stay", arguments: ["%c3%A9 /", "\u{e9} /"])
    func decoding(_ encoded: String) {
        #expect(PercentText.decode(Array(encoded.utf8)[...]) == Array("é /".utf8))
    }

    @Test("without two digits is refused", arguments: ["%", "%4", "a%", "%zz", "%4z", "%%41"])
    func refused(_ encoded: String) {
        #expect(PercentText.decode(Array(encoded.utf8)[...]) == nil)
    }
}
