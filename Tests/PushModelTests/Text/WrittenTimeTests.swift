import Testing

@testable import PushModel

@Suite("Times as producers write them", .timeLimit(.minutes(1)))
struct WrittenTimeTests {
    @Test(
        "a number is seconds or milliseconds by its size",
        arguments: [
            (1_000_000_000, 1_000_000_000_000, true), (1_795_264_800, 1_795_264_800_000, true),
            (253_402_300_799, 253_402_300_799_000, true), (1_000_000_000_000, 1_000_000_000_000, false),
            (1_795_264_800_001, 1_795_264_800_001, false), (253_402_300_799_999, 253_402_300_799_999, false),
        ] as [(Int64, Int64, Bool)])
    func numbers(_ number: Int64, _ milliseconds: Int64, _ isInSeconds: Bool) throws {
        for time in [WrittenTime(number), read("\(number)")] {
            #expect(time?.milliseconds == milliseconds && time?.isInSeconds == isInSeconds)
        }
    }

    @Test(
        "a date and time is read with its offset, and says whether it has more than seconds",
        arguments: [
            ("2026-11-21T12:00:00Z", 1_795_262_400_000, true), ("2026-11-21T13:00:00+01:00", 1_795_262_400_000, true),
            ("2026-11-21T12:00:00.174Z", 1_795_262_400_174, false),
            ("2026-11-21T12:00:00.0-00:00", 1_795_262_400_000, false),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000, true),
        ] as [(String, Int64, Bool)])
    func texts(_ text: String, _ milliseconds: Int64, _ isInSeconds: Bool) throws {
        #expect(read(text)?.milliseconds == milliseconds && read(text)?.isInSeconds == isInSeconds)
    }

    @Test(
        "what is not a plausible time is refused, with how it was read",
        arguments: [
            (-5, "is -5, which is negative"), (0, "is 0, which as seconds since 1970 is 1970-01-01T00:00:00Z"),
            (600, "is 600, which as seconds since 1970 is 1970-01-01T00:10:00Z"),
            (999_999_999, "as seconds since 1970 is 2001-09-09T01:46:39Z"),
            (253_402_300_800, "as milliseconds since 1970 is 1978-01-11T21:31:40Z"),
            (999_999_999_999, "as milliseconds since 1970 is 2001-09-09T01:46:39Z"),
            (253_402_300_800_000, "as milliseconds since 1970 is after the year 9999"),
            (.max, "as milliseconds since 1970 is after the year 9999"), (.min, "is negative"),
        ] as [(Int64, String)])
    func implausible(_ number: Int64, _ words: String) {
        #expect(WrittenTime(number) == nil && read("\(number)") == nil)
        let refusal = WrittenTime.refusal(of: number)
        #expect(refusal.contains(words) && refusal.contains("not a plausible time; write "), "\(refusal)")
        #expect(WrittenTime.refusal(of: "\(number)".bytes.span) == refusal)
    }

    @Test(
        "texts that are not times are refused without repeating them",
        arguments: ["", "soon", "+10m", "2026-11-21", "2026-11-21T12:00:00", "1795264800.5", "0x6b0f4a20"])
    func words(_ text: String) {
        #expect(read(text) == nil)
        let refusal = WrittenTime.refusal(of: text.bytes.span)
        #expect(refusal.hasPrefix("is neither a whole number nor a date and time with offset; write "))
    }

    @Test("a date and time of another age is refused with the moment it was read as")
    func otherAges() {
        #expect(read("1990-11-21T13:00:00+01:00") == nil)
        let refusal = WrittenTime.refusal(of: "1990-11-21T13:00:00+01:00".bytes.span)
        #expect(refusal.hasPrefix("is read as 1990-11-21T12:00:00Z: not a plausible time"))
    }

    /// A span cannot be an argument within #expect.
    private func read(_ text: String) -> WrittenTime? { WrittenTime(text.bytes.span) }
}
