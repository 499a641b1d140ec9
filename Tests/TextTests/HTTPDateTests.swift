import Testing
import Text

@Suite("Dates in HTTP headers", .timeLimit(.minutes(1)))
struct HTTPDateTests {
    @Test(
        "are read and written in their preferred form",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Fri, 31 Dec 1999 23:59:59 GMT", 946_684_799),
        ] as [(String, Int64)])
    func preferred(text: String, expected: Int64) {
        let seconds = HTTPDate.seconds(Array(text.utf8).span)
        #expect(seconds == expected)
        #expect(HTTPDate.text(milliseconds: expected * 1000 + 999) == text)
    }

    @Test(
        "are not read in other forms",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nox 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT", "Mon, 30 Feb 2026 08:49:37 GMT", "Sun, 6x Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
        ])
    func others(text: String) {
        let seconds = HTTPDate.seconds(Array(text.utf8).span)
        #expect(seconds == nil)
    }
}
