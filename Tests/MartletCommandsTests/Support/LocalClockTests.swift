import Foundation
import LocalStack
import Testing

@testable import MartletCommands

@Suite("Times of day", .timeLimit(.minutes(1)))
struct LocalClockTests {
    /// A moment in the time zone of the machine.
    private func local(_ hour: Int, _ minute: Int, _ second: Int = 0) throws -> Int64 {
        let parts = DateComponents(year: 2026, month: 11, day: 21, hour: hour, minute: minute, second: second)
        let date = try #require(Calendar(identifier: .gregorian).date(from: parts))
        return Int64(date.timeIntervalSince1970) * 1_000
    }

    @Test("The next moment at which clocks show it is today's, or tomorrow's where today's is past")
    func next() throws {
        let clock = try #require(LocalClock("18:00"))
        let today = try local(18, 0)
        #expect(try clock.next(after: local(12, 0)) == today)
        #expect(clock.next(after: today - 1) == today)
        let day: Int64 = 86_400_000
        #expect(clock.next(after: today) == today + day)
        #expect(try clock.next(after: local(23, 59)) == today + day)
        #expect(try LocalClock("0:00")?.next(after: local(0, 1)) == local(0, 0) + day)
        #expect(try LocalClock("07:08:09")?.next(after: local(7, 8, 8)) == local(7, 8, 9))
    }

    @Test("A moment is written as clocks show it, with the offset")
    func write() throws {
        let moment = try local(18, 0, 5)
        let text = LocalClock.write(moment + 999)
        #expect(text.hasPrefix("2026-11-21T18:00:05"))
        #expect(try MomentArgument(text).milliseconds(now: 0) == moment)
    }

    @Test("A time zone that is not known is named, because the C library counts in UTC without a word")
    func zones() {
        let files = { (path: String) in ["/usr/share/zoneinfo/Europe/Berlin", "/z/here", "/other/CET"].contains(path) }
        for zone in [
            nil, "", ":", "UTC", "Europe/Berlin", ":Europe/Berlin", "/z/here", "CET-1CEST", "<+03>-3", "EST5EDT",
        ] {
            #expect(LocalClock.trouble(withZoneOf: zone.map { ["TZ": $0] } ?? [:], isFile: files) == nil)
        }
        #expect(LocalClock.trouble(withZoneOf: ["TZ": "CET", "TZDIR": "/other"], isFile: files) == nil)
        for zone in ["Europe/Berlinn", ":Berlin", "CET", "/z/gone"] {
            let words = LocalClock.trouble(withZoneOf: ["TZ": zone], isFile: files)
            #expect(words?.contains(zone.drop { $0 == ":" }) == true && words?.contains("count as UTC") == true)
        }
    }

    @Test("A push for a time of day warns of such a time zone, and no other push does")
    func warns() throws {
        let push = ["push", "a1b2", "--topic", "com.example.app", "--alert", "x", "-n"]
        for (time, isWarned) in [(["--at", "09:00"], true), ([], false)] {
            let outcome = try Executable.run(push + time, environment: ["TZ": "No/Where"])
            #expect(outcome.errorText.contains("the time zone No/Where") == isWarned, "\(outcome.errorText)")
        }
    }

    @Test(
        "What is not a time of day is nil", arguments: ["", "18", "18:", ":00", "1 8:00", "-1:00", "18:00:", "+8:00"])
    func refused(_ text: String) { #expect(LocalClock(text) == nil) }
}
