import TestSupport
import Testing

@testable import PushModel

@Suite("The reasons of invalid jobs", .timeLimit(.minutes(1)))
struct InvalidReasonTests {
    /// The reasons that a piece of code names, as `.badType`.
    private static func reasons(in code: String) -> Set<String> {
        let words = Set(code.matches(of: /\.([A-Za-z]+)/).map { String($0.output.1) })
        return Set(Reason.Known.allCases.filter { words.contains("\($0)") }.map(\.rawValue))
    }

    @Test("Producers lists the reasons for which jobs are refused, and no other")
    func page() throws {
        let listed = try Page(documentation: "Producers").names("reason", in: "What makes a job invalid")
        #expect(Set(listed).count == listed.count)
        // What a reader of jobs names is a reason to refuse one. A route refuses jobs for three more reasons.
        let route = Self.reasons(in: try SourceCode.text("PushWorker/Route"))
        // A job that came back too often is not invalid.
        let read = Self.reasons(in: try SourceCode.text("PushModel/Job")).subtracting(["Poison"])
        let more: Set = ["BodyTooLarge", "NoRoute", "UntrustedSource"]
        #expect(route.isSuperset(of: more))
        #expect(Set(listed).subtracting(read.union(more)) == [], "on the page only")
        #expect(read.union(more).subtracting(listed) == [], "in the code only")
    }
}
