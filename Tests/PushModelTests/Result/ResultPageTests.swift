import Foundation
import TestSupport
import Testing

@testable import PushModel

@Suite("The page about results", .timeLimit(.minutes(1)))
struct ResultPageTests {
    /// What a result says about duplicates, in the words of the page.
    private static func words(isRedelivered: Bool, isSuppressed: Bool) throws -> [String] {
        let report = ResultReport(
            index: 0, final: FinalReport(.accepted, .none), finishedAt: 5, isRedelivered: isRedelivered,
            isSuppressedDuplicate: isSuppressed)
        var body: [UInt8] = []
        let job = try MessageBuilder.raw().job()
        report.appendBody(for: job, from: ResultOrigin(route: "app", worker: "w"), to: &body)
        let result = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        let redelivered = try #require(result[ResultField.redelivered.stringValue] as? Bool)
        let duplicate = result[ResultField.duplicate.stringValue].map { "`\($0)`" }
        return ["`\(redelivered)`", duplicate ?? "absent"]
    }

    @Test("Results lists what results say about duplicates, and nothing else")
    func duplicates() throws {
        let rows = try Page(documentation: "Results").rows("`redelivered`", in: "Duplicates")
        let written = try [(false, false), (true, false), (true, true)].map {
            try Self.words(isRedelivered: $0.0, isSuppressed: $0.1)
        }
        #expect(rows.map { [$0[0], $0[1]] } == written)
    }
}
