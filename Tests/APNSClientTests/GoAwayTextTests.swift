import HTTP2
import TestSupport
import Testing

@testable import APNSClient

@Suite("The text of a GOAWAY", .timeLimit(.minutes(1)))
struct GoAwayTextTests {
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
