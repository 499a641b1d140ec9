import Testing
import Text

@Suite("Counts and lengths of time", .timeLimit(.minutes(1)))
struct TimeTextTests {
    @Test("Numbers and lengths of time read well")
    func numbers() {
        #expect(
            [0, 999, 1000, 1_234_567, -20_000].map(TimeText.count) == ["0", "999", "1 000", "1 234 567", "-20 000"])
        #expect(
            [0, 999, 2500, 200_000, 7_260_000].map(TimeText.length) == [
                "0 ms", "999 ms", "2.5 s", "3 m 20 s", "2 h 1 m",
            ])
    }
}
