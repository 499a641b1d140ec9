import PushModel
import TestSupport
import Testing

@testable import APNSClient

@Suite("What a refusal says", .timeLimit(.minutes(1)))
struct ErrorBodyTests {
    @Test("Of a reason that APNs makes up so much is kept as fits a header", arguments: [1, 255, 256, 257, 4_000])
    func length(length: Int) {
        var body = Array(#"{"reason":"\#(String(repeating: "R", count: length))","timestamp":7}"#.utf8)
        let refusal = ErrorBody(reading: &body)
        #expect(refusal.reason?.rawValue.utf8.count == min(length, 256) && refusal.timestamp == 7)
    }
}
