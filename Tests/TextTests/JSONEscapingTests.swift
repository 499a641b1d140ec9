import Testing
import Text

@Suite("JSON strings", .timeLimit(.minutes(1)))
struct JSONEscapingTests {
    @Test(
        "escape quotation marks, backslashes and control characters, and nothing else",
        arguments: [
            ("", #""""#), ("é/😀", #""é/😀""#), (#"a"b\c"#, #""a\"b\\c""#),
            ("\n\r\t", #""\n\r\t""#), ("\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\""),
        ])
    func quoted(text: String, expected: String) {
        #expect(JSONEscaping.quoted(text) == expected)
    }
}
