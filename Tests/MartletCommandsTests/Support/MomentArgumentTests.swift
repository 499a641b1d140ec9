import ArgumentParser
import Testing

@testable import MartletCommands

@Suite("Moments on the command line", .timeLimit(.minutes(1)))
struct MomentArgumentTests {
    @Test(
        "Moments are read in each of their forms",
        arguments: [
            ("2026-11-21T12:00:00Z", 1_795_262_400_000), ("2026-11-21T13:00:00.5+01:00", 1_795_262_400_500),
            ("1795262400", 1_795_262_400_000), ("1795262400174", 1_795_262_400_174), ("+10s", 11_000),
            ("+2h", 7_201_000),
        ] as [(String, Int64)])
    func moments(text: String, expected: Int64) throws {
        #expect(try MomentArgument(text).milliseconds(now: 1000) == expected)
        #expect(try MomentArgument.orZero(text).milliseconds(now: 1000) == expected)
    }

    @Test("A moment too far away to count is the last one", arguments: ["+106751991167d", "+2562047788015h"])
    func far(text: String) throws {
        let now: Int64 = 1_763_712_800_174
        #expect(try MomentArgument(text).milliseconds(now: now) == .max)
        var end = ControlEnd()
        end.duration = TimeSpan(argument: String(text.dropFirst()))
        #expect(end.milliseconds(now: now) == .max)
    }

    @Test("0 is a moment for an expiration alone")
    func zero() throws {
        #expect(try MomentArgument.orZero("0").milliseconds(now: 1000) == 0)
        #expect(throws: ValidationError.self) { try MomentArgument("0") }
    }

    @Test(
        "What is not a moment is refused, with how it was read",
        arguments: [
            ("", "neither a whole number nor a date and time"), ("soon", "neither a whole number"),
            ("+", "What follows + is not a length of time"), ("+5", "What follows +"), ("-1", "which is negative"),
            ("2026-11-21", "date and time with offset"), ("600", "as seconds since 1970 is 1970-01-01T00:10:00Z"),
            ("1795262400000000", "after the year 9999"),
        ])
    func noMoments(text: String, words: String) {
        for read in [MomentArgument.init(_:), MomentArgument.orZero] {
            let error = #expect(throws: ValidationError.self) { _ = try read(text) }
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A time of day is a moment for what is sent later alone")
    func clock() throws {
        let now: Int64 = 1_795_262_400_000
        let moment = try MomentArgument.orClock("18:00").milliseconds(now: now)
        #expect(moment > now && moment <= now + 25 * 3_600_000)
        #expect(throws: ValidationError.self) { try MomentArgument("18:00") }
        #expect(try MomentArgument.orClock("+10m").milliseconds(now: now) == now + 600_000)
        #expect(try MomentArgument.orClock("2026-11-21T12:00:00Z").milliseconds(now: 0) == now)
        for text in ["24:00", "18:60", "18:0", "8:00pm", "18:00:61", "1:00:00:00", "a:00"] {
            let error = #expect(throws: ValidationError.self) { _ = try MomentArgument.orClock(text) }
            #expect(error?.message.contains("time of day") == true, "\(text): \(error?.message ?? "")")
        }
    }
}
