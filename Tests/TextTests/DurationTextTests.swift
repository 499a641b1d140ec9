import Testing
import Text

@Suite("Durations as people write them", .timeLimit(.minutes(1)))
struct DurationTextTests {
    @Test(
        "have a number and a unit",
        arguments: [
            ("0s", 0), ("0ms", 0), ("250ms", 250), ("1500ms", 1500), ("15s", 15_000), ("90s", 90_000), ("1m", 60_000),
            ("20m", 1_200_000), ("2h", 7_200_000), ("6h", 21_600_000), ("1d", 86_400_000), ("30d", 2_592_000_000),
            ("007s", 7000), ("1.5s", 1500), ("0.25h", 900_000), (".5s", 500), ("5.s", 5000),
            ("0.4ms", 0), ("0.6ms", 1), ("9999999d", 863_999_913_600_000),
        ] as [(String, Int64)])
    func reads(_ text: String, _ milliseconds: Int64) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "are nothing else, and not too long to count",
        arguments: [
            "", "15", "s", "-1s", "15 s", " 15s", "15s ", "15S", "1h30m", "1e3s", "+5s", "0x10s", ".s", "1w", "1 week",
            "1,5s", "1.5.5s", "nans",
            "nan s", "infs", "99999999999999999999s", "9223372036854775807h", "1e300d", "\u{661}s",
        ])
    func refuses(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "are written in the largest unit up to the hour that divides them, and read back",
        arguments: [
            (0, "0s"), (1, "1ms"), (250, "250ms"), (1000, "1s"), (1500, "1500ms"), (90_000, "90s"), (60_000, "1m"),
            (3_600_000, "1h"), (5_400_000, "90m"), (86_400_000, "24h"), (2_592_000_000, "720h"),
        ] as [(Int64, String)])
    func writes(_ milliseconds: Int64, _ text: String) {
        #expect(DurationText.write(.milliseconds(milliseconds)) == text)
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test("have whole milliseconds without their fractions")
    func wholeMilliseconds() {
        #expect(Duration.microseconds(1_999).wholeMilliseconds == 1)
        #expect(Duration.seconds(-2).wholeMilliseconds == -2000)
    }
}
