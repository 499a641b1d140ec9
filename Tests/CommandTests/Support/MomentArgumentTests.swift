import Testing

@testable import MartletCommands

@Suite("Moments on the command line", .timeLimit(.minutes(1)))
struct MomentArgumentTests {
    @Test(
        "Moments are read in each of their forms",
        arguments: [
            ("2026-11-21T12:00:00Z", 1_795_262_400_000), ("1795262400", 1_795_262_400_000), ("0", 0), ("+10s", 11_000),
            ("+2h", 7_201_000),
        ] as [(String, Int64)])
    func moments(text: String, expected: Int64) {
        #expect(MomentArgument(argument: text)?.milliseconds(now: 1000) == expected)
    }

    @Test("What is no moment is refused", arguments: ["", "soon", "+", "+5", "-1", "2026-11-21"])
    func noMoments(text: String) {
        #expect(MomentArgument(argument: text) == nil)
    }
}
