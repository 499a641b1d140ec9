import Testing

@testable import MartletCommands

@Suite("JSON as commands read it", .timeLimit(.minutes(1)))
struct JSONReadingTests {
    @Test("Texts with escapes take the time of their own length, however long the body around them is")
    func escapes() throws {
        let texts = Array(repeating: #""\n""#, count: 1_200_000).joined(separator: ",")
        guard case .array(let values) = try JSON(reading: Array("[\(texts)]".utf8)) else {
            Issue.record("not an array")
            return
        }
        #expect(values.count == 1_200_000 && values.last?.text == "\n")
    }
}
