import HTTP2
import TestSupport
import Testing

@testable import APNSClient

@Suite("Small texts", .timeLimit(.minutes(1)))
struct TextTests {
    @Test(
        "Base64 for URLs has no padding",
        arguments: [
            ([], ""), ([0xFB], "-w"), ([0xFB, 0xFF], "-_8"), ([0xFB, 0xFF, 0xBF], "-_-_"),
            (Array("fooba".utf8), "Zm9vYmE"),
        ] as [([UInt8], String)])
    func base64(bytes: [UInt8], expected: String) {
        var output: [UInt8] = []
        Base64URL.append(bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test(
        "HTTP dates in their preferred form are read, others are not",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun, 06 Nox 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("", nil),
        ] as [(String, Int64?)])
    func date(text: String, expected: Int64?) {
        let seconds = HTTPDate.seconds(Array(text.utf8).span)
        #expect(seconds == expected)
    }

    @Test(
        "A GOAWAY is described by its code and reason, or by what its text shows of itself",
        arguments: [
            ("", "NO_ERROR"), (#"{"reason":"BadCertificateEnvironment"}"#, "NO_ERROR, BadCertificateEnvironment"),
            ("Maximum active\nstreams", "NO_ERROR, Maximum active?streams"),
        ])
    func goAway(debug: String, expected: String) {
        let frame = HTTP2GoAway(lastStreamID: 1, code: .noError, debugData: Array(debug.utf8))
        #expect(GoAwayText.describe(frame) == expected)
    }
}
